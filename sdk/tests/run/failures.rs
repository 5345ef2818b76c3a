//! Parts of the host that fail.

use journeyman::{
    agent::{ChatFormat, ModelExecutor, ModelExecutorOptions},
    stations::credit::PerRollout,
};

use super::*;

#[test]
fn an_executor_that_panics_costs_its_attempt() {
    let inner = agent();
    let (report, library) = with(|b| {
        b.executor = Some(Arc::new(Panics(inner)));
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

/// Learns from three tasks with one part replaced, where no attempt comes to a verdict: the error, the attempts as they were
/// told, and the library.
fn nothing_done(change: impl FnOnce(&mut Components)) -> (Error, Vec<AttemptReport>, SkillLibrary) {
    let mut components = components();
    change(&mut components);
    block_on(async {
        let journeyman = open(components).await;
        let events = journeyman.events();
        let error = journeyman.learn(tasks(3)).await.expect_err("nothing done");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        let events: Vec<Event> = events.collect().await;
        let attempts = events.into_iter().filter_map(|event| match event.kind {
            EventKind::Attempted { report, .. } => Some(*report),
            _ => None,
        });
        (error, attempts.collect(), library)
    })
}

#[test]
fn a_run_in_which_nothing_could_be_done_is_an_error_and_learns_nothing() {
    let fault = || Error::new(ErrorKind::Unavailable, "scripted", "out of order");
    let (error, attempts, library) = nothing_done(|b| {
        let world = ScriptedEnvironment::words().beginning(move |_, _| Play::Fail(fault()));
        b.environment = Some(Arc::new(world));
    });
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("none of 12 attempts"), "{error}");
    assert!(error.to_string().contains("out of order"), "{error}");
    assert_eq!(attempts.len(), 12);
    assert!(attempts.iter().all(|attempt| attempt.error.is_some()));
    assert_eq!(library.revision(), Revision(0), "nothing to commit");

    let (_, attempts, library) =
        nothing_done(|b| b.judge = Some(Arc::new(ScriptedJudge::that(Play::Fail(fault())))));
    assert!(attempts.iter().all(|attempt| attempt.reward.is_none()));
    assert_eq!(
        library.entries().count(),
        0,
        "nothing is learned from what nobody judged"
    );
}

/// A world whose steps panic.
#[derive(Debug)]
struct PanickingWorld(journeyman::domain::Observation);

#[async_trait::async_trait]
impl journeyman::contract::Environment for PanickingWorld {
    fn capabilities(&self) -> journeyman::contract::EnvironmentCapabilities {
        journeyman::contract::EnvironmentCapabilities::resettable()
    }

    async fn reset(
        &self,
        _: &Task,
        _: Seed,
    ) -> journeyman::Result<Box<dyn journeyman::contract::Episode>> {
        Ok(Box::new(Self(self.0.clone())))
    }
}

#[async_trait::async_trait]
impl journeyman::contract::Episode for PanickingWorld {
    fn observation(&self) -> &journeyman::domain::Observation {
        &self.0
    }

    async fn step(&mut self, _: &Action) -> journeyman::Result<journeyman::domain::Transition> {
        panic!("the ticket desk is closed")
    }

    async fn close(self: Box<Self>) -> journeyman::Result<()> {
        Ok(())
    }
}

/// Steps its world once and gives its error up.
#[derive(Debug)]
struct StepsOnce;

#[async_trait::async_trait]
impl Executor for StepsOnce {
    async fn execute(
        &self,
        _: Attempt<'_>,
        episode: &mut dyn journeyman::contract::Episode,
    ) -> journeyman::Result<Trajectory> {
        episode.step(&Action::EndTurn).await?;
        panic!("the world did not panic");
    }
}

#[test]
fn a_panic_keeps_its_message_and_is_blamed_on_its_part() {
    let observation = sample::trajectory("x", &sample::task("t", &["one"]), &["one"], true)
        .steps
        .remove(0)
        .observation;
    let (_, attempts, _) = nothing_done(|b| {
        b.environment = Some(Arc::new(PanickingWorld(observation)));
        b.executor = Some(Arc::new(StepsOnce));
    });
    let error = attempts[0].error.clone().expect("an error");
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert_eq!(error.operation(), "Episode::step");
    assert!(
        error.message().contains("the ticket desk is closed"),
        "{error}"
    );

    let (report, _) = with(|b| b.executor = Some(Arc::new(Panics(agent()))));
    let error = report.tasks[0].attempts[0].error.clone().expect("an error");
    assert_eq!(error.operation(), "Executor::execute");
    assert!(error.message().contains("a scripted panic"), "{error}");
}

#[test]
fn a_judge_that_hangs_is_given_up_without_credit_and_the_run_goes_on() {
    let clock = Arc::new(ManualClock::at(journeyman::domain::Timestamp(0)));
    let mut components = components();
    components.clock = Some(Arc::clone(&clock) as _);
    components.judge = Some(Arc::new(ScriptedJudge::by(move |request, call| {
        if call == 0 {
            clock.advance(JUDGE_LIMIT_MS);
            return Play::Hang;
        }
        let outcome = request.trajectory.outcome.as_ref();
        Play::Give(Verdict::binary(
            outcome.is_some_and(|outcome| outcome.success),
        ))
    })));
    // Each attempt is credited for itself.
    let mut recipe = recipe();
    recipe.credit.by = PerRollout.into();
    let (report, library) = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options)
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
fn a_gate_by_fits_asks_about_each_candidate_by_itself() {
    // The model holds a skill to fit where its first word is the task's first one.
    let fits = |prompt: &Prompt, answer: &str| {
        let text = prompt.text();
        let word = |before: &str| text.split(before).nth(1)?.split_whitespace().next();
        let (asked, of_skill) = (word("say "), word("How to say "));
        let likely = (asked == of_skill) == (answer == "yes");
        Play::Give(if likely { -0.1 } else { -3.0 })
    };
    let learn = |prompt_format: Arc<dyn PromptFormat>| {
        let mut components = components();
        components.scorer = Some(Arc::new(ScriptedScorer::by(fits)));
        components.prompt_format = Some(prompt_format);
        let mut recipe = recipe();
        recipe.select.selector = GatePolicy::fits().into();
        let options = Options::new("test", Seed(7));
        block_on(async {
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            journeyman.learn(tasks(6)).await.expect("it learns")
        })
    };
    let report = learn(Arc::new(ScriptedFormat));
    // Three kinds of tasks: the first three find no skill of theirs.
    for (number, task) in report.tasks.iter().enumerate() {
        let selection = &task.selections[0];
        let injects = matches!(selection.decision, Decision::Inject { .. });
        assert_eq!(injects, number >= 3, "{selection:?}");
        let values = selection.candidates.iter().map(|one| one.value);
        assert!(
            values.clone().all(|value| value.abs() > 2.0),
            "{selection:?}"
        );
        assert_eq!(
            values.filter(|value| *value > 0.0).count(),
            usize::from(injects)
        );
        if number > 0 {
            assert_eq!(selection.score, Some(ScoreKind::Fits));
        }
    }
    let report = learn(Arc::new(CannotAsk));
    let last = &report.tasks[5].selections[0].decision;
    let Decision::Nothing(NothingReason::ScorerUnavailable(reason)) = last else {
        panic!("{last:?}");
    };
    assert!(
        reason.contains("no question whether a skill fits"),
        "{reason}"
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
    let mut components = components();
    let inner: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    components.store = Some(Arc::new(FaultyStore::new(
        inner,
        [(0, StoreFault::Overtaken), (1, StoreFault::Overtaken)],
    )));
    let journal = components.journal.clone().expect("a journal");
    let (report, library) = learn(components, 3);
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
        bytes(
            replay(&entries, &journeyman::policy::Policies::new())
                .expect("a replay")
                .library()
        ),
        bytes(&library)
    );
}

#[test]
fn a_store_that_fails_stops_the_run_and_resuming_loses_and_doubles_nothing() {
    for fault in [StoreFault::Refused, StoreFault::AnswerLost] {
        let whole = bytes(&learn(components(), 4).1);
        let mut components = components();
        let inner: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
        components.store = Some(Arc::new(FaultyStore::new(inner, [(2, fault)])));
        let library = block_on(async {
            let journeyman = open(components).await;
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

/// A model that always says the same thing to do.
fn talks() -> ModelExecutor {
    let model = ScriptedModel::by(|_, _| Play::Give(r#"{"message": "one"}"#.to_owned()));
    let prompt_format = Arc::new(ChatFormat::default());
    ModelExecutor::new(
        Arc::new(model),
        prompt_format,
        ModelExecutorOptions::default(),
    )
    .expect("an agent")
}

#[test]
fn a_world_whose_steps_always_panic_is_an_error_and_no_failure_of_the_agent() {
    let observation = sample::trajectory("x", &sample::task("t", &["one"]), &["one"], true)
        .steps
        .remove(0)
        .observation;
    let judge = Arc::new(ScriptedJudge::that(Play::Give(Verdict::binary(false))));
    let asked = Arc::clone(&judge);
    let (error, attempts, library) = nothing_done(|b| {
        b.environment = Some(Arc::new(PanickingWorld(observation)));
        b.executor = Some(Arc::new(talks()));
        b.judge = Some(judge);
    });
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(
        error.to_string().contains("the ticket desk is closed"),
        "{error}"
    );
    assert!(
        attempts
            .iter()
            .all(|one| one.error.is_some() && one.reward.is_none())
    );
    assert_eq!(asked.calls(), 0, "there is nothing to judge");
    assert_eq!(library.revision(), Revision(0), "nothing to commit");
}
