//! Parts of the host that fail.

use journeyman::credit::CreditPer;

use super::*;

#[test]
fn an_executor_that_panics_costs_its_attempt() {
    let inner = agent();
    let (report, library) = with(|b| {
        b.executor = Arc::new(Panics(inner));
    });
    let attempts = &report.tasks[0].attempts;
    let panicked = attempts.iter().filter(|a| a.error.is_some()).count();
    assert_eq!(panicked, 1, "{attempts:?}");
    assert_eq!(
        attempts[0].error.as_ref().map(Error::kind),
        Some(ErrorKind::Panicked)
    );
    assert!(attempts[0].reward.is_none(), "no credit");
    assert!(report.tasks.len() == 3 && library.revision() > Revision(0));
}

/// Panics at every first rollout.
#[derive(Debug)]
struct Panics(ScriptedExecutor);

#[async_trait::async_trait]
impl Executor for Panics {
    async fn execute(
        &self,
        attempt: Attempt<'_>,
        episode: &mut dyn journeyman::contract::Episode,
    ) -> journeyman::Result<Trajectory> {
        assert!(!attempt.id.as_str().ends_with("/0"), "a scripted panic");
        self.0.execute(attempt, episode).await
    }
}

#[test]
fn a_world_or_a_judge_that_fails_costs_the_attempt() {
    let fault = || Error::new(ErrorKind::Unavailable, "scripted", "out of order");
    let (report, library) = with(|b| {
        b.environment =
            Arc::new(ScriptedEnvironment::words().beginning(move |_, _| Play::Fail(fault())));
    });
    assert!(
        report
            .tasks
            .iter()
            .flat_map(|t| &t.attempts)
            .all(|a| a.error.is_some())
    );
    assert_eq!(library.entries().count(), 0);
    let (report, library) = with(|b| b.judge = Arc::new(ScriptedJudge::that(Play::Fail(fault()))));
    assert!(
        report
            .tasks
            .iter()
            .flat_map(|t| &t.attempts)
            .all(|a| a.reward.is_none())
    );
    assert_eq!(
        library.entries().count(),
        0,
        "nothing is learned from what nobody judged"
    );
    let nonsense = Verdict {
        score: f64::NAN,
        ..Verdict::binary(true)
    };
    let (report, _) = with(|b| b.judge = Arc::new(ScriptedJudge::that(Play::Give(nonsense))));
    assert!(report.tasks[0].attempts[0].error.is_some());
}

#[test]
fn a_judge_that_hangs_is_given_up_without_credit_and_the_run_goes_on() {
    let clock = Arc::new(ManualClock::at(journeyman::Timestamp(0)));
    let mut backends = backends();
    backends.clock = Some(Arc::clone(&clock) as _);
    backends.judge = Arc::new(ScriptedJudge::by(move |request, call| {
        if call == 0 {
            clock.advance(JUDGE_LIMIT_MS);
            return Play::Hang;
        }
        let outcome = request.trajectory.outcome.as_ref();
        Play::Give(Verdict::binary(
            outcome.is_some_and(|outcome| outcome.success),
        ))
    }));
    // Each attempt is credited for itself.
    let mut recipe = recipe();
    recipe.credit = CreditPer::Rollout;
    let (report, library) = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(backends, recipe, options)
            .await
            .expect("it opens");
        let skill = sample::skill("saying");
        journeyman.add(vec![skill], "a start").await.expect("added");
        let report = journeyman.learn(tasks(2)).await.expect("it learns");
        (report, journeyman.library().await.expect("a library"))
    });
    let attempts: Vec<_> = report
        .tasks
        .iter()
        .flat_map(|task| &task.attempts)
        .collect();
    assert_eq!((report.tasks.len(), attempts.len()), (2, 8));
    let (hung, judged): (Vec<_>, Vec<_>) = attempts
        .into_iter()
        .partition(|attempt| attempt.error.is_some());
    assert_eq!(hung.len(), 1);
    let hung = hung[0];
    let error = hung.error.as_ref().expect("an error");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(hung.success.is_none() && hung.reward.is_none());
    assert!(!hung.injected.is_empty(), "there is a skill to credit");
    let credited = |attempt: &AttemptReport| {
        let mut credits = library.entries().flat_map(|entry| &entry.evidence);
        credits.any(|credit| credit.attempt == attempt.attempt)
    };
    assert!(!credited(hung));
    for attempt in judged {
        assert!(attempt.success == Some(true) && credited(attempt));
    }
}

#[test]
fn a_scorer_or_a_retriever_that_fails_costs_the_injection() {
    let fault = Error::new(ErrorKind::Unavailable, "scripted", "out of order");
    let (report, _) = with(|b| b.scorer = Some(Arc::new(ScriptedScorer::that(Play::Fail(fault)))));
    let last = &report.tasks[2];
    assert!(matches!(
        last.selections[0].decision,
        Decision::Nothing(NothingReason::ScorerUnavailable(_))
    ));
    assert!(
        last.attempts
            .iter()
            .all(|a| a.injected.is_empty() && a.error.is_none())
    );
    let (report, _) = with(|b| b.scorer = None);
    let decision = &report.tasks[2].selections[0].decision;
    assert!(
        format!("{decision:?}").contains("no scorer"),
        "{decision:?}"
    );
}

#[test]
fn a_writer_that_writes_garbage_is_asked_once_more_and_then_abstracted() {
    let (report, library) = with(|b| b.model = Some(Arc::new(ScriptedModel::always("garbage"))));
    let written = report
        .tasks
        .iter()
        .find_map(|t| t.written.first())
        .expect("one was due");
    assert!(written.fallback);
    assert!(library.entries().count() > 0, "the fallback is a skill too");
}

#[test]
fn another_writer_first_is_rebased_and_told() {
    let mut backends = backends();
    let inner: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    backends.store = Some(Arc::new(FaultyStore::new(
        inner,
        [(0, StoreFault::Overtaken), (1, StoreFault::Overtaken)],
    )));
    let journal = backends.journal.clone().expect("a journal");
    let (report, library) = learn(backends, 3);
    let entries = block_on(journal.read(&report.run)).expect("entries");
    let told = |n: u32| {
        let words = format!("\"rebased\":{n}");
        entries
            .iter()
            .any(|entry| entry.event.to_string().contains(&words))
    };
    assert!(
        told(2) && told(0),
        "the first commit was overtaken twice, the second never"
    );
    assert_eq!(
        bytes(replay(&entries).expect("a replay").library()),
        bytes(&library)
    );
}

#[test]
fn a_store_that_fails_stops_the_run_and_resuming_loses_and_doubles_nothing() {
    for fault in [StoreFault::Refused, StoreFault::AnswerLost] {
        let whole = bytes(&learn(backends(), 4).1);
        let mut backends = backends();
        let inner: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
        backends.store = Some(Arc::new(FaultyStore::new(inner, [(2, fault)])));
        let library = block_on(async {
            let journeyman = open(backends).await;
            let error = journeyman
                .learn(tasks(4))
                .await
                .expect_err("the store fails");
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            let kept = journeyman.library().await.expect("reads go on");
            assert!(kept.revision() >= Revision(2), "what was learned is kept");
            let run = RunId::new("test/learn-0");
            let report = journeyman.resume(&run).await.expect("it resumes");
            assert_eq!(report.tasks.len(), 4);
            journeyman.library().await.expect("a library")
        });
        assert_eq!(bytes(&library), whole, "{fault:?}");
    }
}
