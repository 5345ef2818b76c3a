//! Assessors of a host's own: named by a recipe, held to their rules, looked after by a program that they name.

use journeyman::testing::Edited as _;
use journeyman::{
    domain::{AssessedSubgoal, Assessment, HandledMark, Subgoal, SubgoalScore, Trace},
    papers::scribe::ProcessReward,
    policy::{Ask, AssessProgram, Assessed, MaintenanceProgram, Policies, Policy, View},
    run::report::FindingKind,
};

use super::*;

/// What an assessor does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Right,
    /// It cannot assess the attempt.
    Nothing,
    /// Its assessment is of another attempt.
    Elsewhere,
    /// Its subgoals leave a step out.
    LeavesOut,
    /// Its process score is no share.
    TooMuch,
    Fails,
    Panics,
}

/// Assesses each attempt as one subgoal, and is looked after by the program `tidies`.
#[derive(Debug)]
struct Own(Does);

#[async_trait]
impl AssessProgram for Own {
    async fn assess(
        &self,
        ask: &mut Ask,
        view: &View,
        attempt: &Trace,
    ) -> Result<Option<Assessed>> {
        assert_eq!(view.mode(), Mode::Train);
        assert!(attempt.verdict.is_some(), "it is judged");
        ask.embed(vec![attempt.task.instruction.clone()]).await;
        match self.0 {
            Does::Fails => return Err(Error::invalid("a host's policy", "it does not want to")),
            Does::Panics => panic!("a policy that panics"),
            _ => {}
        }
        let steps = attempt.trajectory.steps.len();
        if steps == 0 || self.0 == Does::Nothing {
            return Ok(None);
        }
        let left_out = usize::from(self.0 == Does::LeavesOut);
        let subgoal = AssessedSubgoal::new(Subgoal::new(
            "say it all",
            "speaking",
            left_out,
            steps - 1 + left_out,
        ))
        .edited(|it| it.score = SubgoalScore::new(2).ok());
        let mut assessment =
            Assessment::new(attempt.trajectory.attempt.clone(), attempt.task.id.clone())
                .with_success(attempt.verdict.as_ref().and_then(Verdict::success))
                .with_subgoals(vec![subgoal]);
        assessment.category = attempt.task.category.clone();
        if self.0 == Does::Elsewhere {
            assessment.attempt = "elsewhere".into();
        }
        let process = match self.0 {
            Does::TooMuch => 1.5,
            _ => 0.25,
        };
        Ok(Some(Assessed::new(assessment, Some(process))))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Score]
    }

    fn needs_embeddings(&self) -> bool {
        true
    }

    fn upkeep(&self, batch: NonZeroU64) -> Option<ScheduledProgram> {
        let every = batch.saturating_mul(n64(2));
        Some(ScheduledProgram::new(every, Policy::new("tidies")))
    }

    fn kept_attempts(&self) -> u64 {
        13
    }
}

/// Notes under its name how many tasks were learned from.
#[derive(Debug)]
struct Notes(&'static str);

#[async_trait]
impl MaintenanceProgram for Notes {
    async fn maintain(&self, _: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let learned = view.library().tasks_learned();
        let fingerprint = HandledMark::done(format!("{}/{learned}", self.0));
        Ok(vec![LibraryChange::Handled { fingerprint }])
    }

    fn records(&self) -> bool {
        true
    }

    fn reason(&self) -> &'static str {
        self.0
    }
}

fn policies(does: Does) -> Policies {
    Policies::new()
        .with_assessor("own", move |_| Ok(Arc::new(Own(does))))
        .with_program("tidies", |_| Ok(Arc::new(Notes("tidies"))))
        .with_program("first", |_| Ok(Arc::new(Notes("first"))))
}

/// Two attempts at each task, two tasks at once, and a reward by process and outcome.
fn assessing() -> Recipe {
    let mut recipe = recipe::standard().with_program(n64(4), Policy::new("first"));
    recipe.attempts.group = n32(2);
    recipe.batch = n64(2);
    recipe.tiers.traces = 13;
    recipe.select.selector = Nothing.into();
    recipe.write.when = WriteWhen::Never;
    recipe.reward.by = ProcessReward::default().into();
    recipe.assess = Some(Policy::new("own"));
    recipe
}

struct Learned {
    report: Option<RunReport>,
    library: SkillLibrary,
    events: Vec<EventKind>,
    /// Why each commit was made.
    reasons: Vec<String>,
}

fn learned(does: Does) -> Learned {
    let (mut components, _) = parts(Script::default());
    let (store, journal) = (
        Arc::new(MemoryStore::new()),
        Arc::new(MemoryJournal::default()),
    );
    components.store = Some(store.clone());
    components.journal = Some(journal.clone());
    let options = Options::new("assess", Seed(7)).with_policies(policies(does));
    block_on(async {
        let journeyman = Journeyman::open(components, assessing(), options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        let report = journeyman.learn(tasks(8)).await.ok();
        let library = journeyman.library().await.expect("a library");
        if let Some(report) = &report {
            let entries = journal.read(&report.run).await.expect("a journal");
            let replayed = replay(&entries, &policies(does)).expect("it replays");
            let json = |library: &SkillLibrary| library.to_json().expect("it is JSON");
            assert_eq!(json(replayed.library()), json(&library));
            // It is not asked where nothing is learned.
            let report = journeyman.evaluate(tasks(2)).await.expect("it evaluates");
            assert!(report.attempts().all(|one| one.process.is_none()));
        }
        drop(journeyman);
        let committed = store.load().await.expect("commits").committed;
        let reasons = committed.into_iter().map(|one| one.cause.reason);
        Learned {
            report,
            library,
            events: events.map(|event| event.kind).collect().await,
            reasons: reasons.collect(),
        }
    })
}

#[test]
fn an_assessor_of_the_hosts_own_assesses_what_is_learned_from() {
    let learned = learned(Does::Right);
    let report = learned.report.expect("it learns");
    let judged = report.attempts().filter(|one| one.success.is_some());
    let (assessed, without): (Vec<_>, Vec<_>) = judged.partition(|one| one.steps > 0);
    assert!(!assessed.is_empty());
    for one in &assessed {
        assert_eq!(one.process, Some(0.25));
        let outcome = f64::from(u8::from(one.success == Some(true)));
        let reward = one.reward.expect("it was judged");
        assert!((reward - (0.3 * 0.25 + 0.7 * outcome)).abs() < 1e-9);
    }
    assert!(without.iter().all(|one| one.process.is_none()));
    let told = |event: &&EventKind| matches!(event, EventKind::Assessed { process: Some(process), .. } if *process == 0.25);
    assert_eq!(learned.events.iter().filter(told).count(), assessed.len());
    // The library keeps the subgoals; nothing of ours clusters them.
    assert_eq!(learned.library.subgoals().count(), assessed.len());
    assert!(learned.library.prototypes().is_empty());
}

#[test]
fn what_an_assessor_cannot_assess_has_no_assessment_and_an_error_is_told() {
    for (does, why) in [
        (Does::Nothing, None),
        (Does::Elsewhere, Some("of another attempt")),
        (Does::LeavesOut, Some("a step before the subgoal")),
        (Does::TooMuch, Some("not in [0, 1]")),
        (Does::Fails, Some("it does not want to")),
    ] {
        let learned = learned(does);
        let report = learned.report.expect("the tasks go on");
        assert!(report.attempts().any(|one| one.success.is_some()));
        assert!(
            report.attempts().all(|one| one.process.is_none()),
            "{does:?}"
        );
        assert_eq!(learned.library.subgoals().count(), 0, "{does:?}");
        let refused = learned.events.iter().filter_map(|event| match event {
            EventKind::AssessFailed { reason, .. } => Some(reason),
            EventKind::TaskFailed { reason } => panic!("{does:?}: {reason}"),
            _ => None,
        });
        let refused: Vec<&String> = refused.collect();
        assert_eq!(refused.is_empty(), why.is_none(), "{does:?}: {refused:?}");
        let why = why.unwrap_or_default();
        assert!(
            refused.iter().all(|reason| reason.contains(why)),
            "{refused:?}"
        );
    }
}

#[test]
fn an_assessor_that_panics_fails_the_task() {
    let learned = learned(Does::Panics);
    let failed = learned.events.iter().any(|event| {
        matches!(event, EventKind::TaskFailed { reason } if reason.contains("a policy that panics"))
    });
    assert!(failed, "{:?}", learned.events);
    assert_eq!(learned.library.subgoals().count(), 0);
}

#[test]
fn the_program_that_an_assessor_names_runs_after_those_of_the_recipe() {
    let learned = learned(Does::Right);
    // Behind each two batches of two tasks.
    for tasks in [4, 8] {
        for program in ["first", "tidies"] {
            let mark = format!("{program}/{tasks}");
            assert!(learned.library.is_handled(&mark), "{mark}");
        }
    }
    assert!(!learned.library.is_handled("tidies/2"));
    let reasons = learned.reasons.iter().map(String::as_str);
    let ran = reasons.filter(|reason| ["first", "tidies"].contains(reason));
    assert_eq!(
        ran.collect::<Vec<_>>(),
        ["first", "tidies", "first", "tidies"]
    );
}

#[test]
fn a_recipe_is_refused_that_keeps_fewer_attempts_than_its_assessor_needs() {
    let mut recipe = assessing();
    recipe.resolve(&policies(Does::Right)).expect("it keeps 13");
    recipe.tiers.traces = 12;
    let error = recipe.resolve(&policies(Does::Right)).expect_err("too few");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let said = error.to_string();
    for part in ["tiers.traces", "own", "13"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    recipe.assess = None;
    recipe.reward.by = LevelReward::default().into();
    recipe.resolve(&policies(Does::Right)).expect("without it");
}

#[test]
fn a_session_says_what_an_assessor_lacks() {
    let found = |change: fn(&mut Components)| {
        let (mut components, _) = parts(Script::default());
        change(&mut components);
        let options = Options::new("assess", Seed(7)).with_policies(policies(Does::Right));
        let opened = block_on(Journeyman::open(components, assessing(), options));
        opened.expect("it opens").findings()
    };
    let no_score = |components: &mut Components| {
        let played = Role::ALL.into_iter().filter(|role| *role != Role::Score);
        components.roles = Some(Arc::new(ScriptedRoles::only(played)));
    };
    let told = |findings: &[Finding], kind, part: &str| {
        let mut findings = findings.iter();
        findings.any(|one| one.kind == kind && one.to_string().contains(part))
    };
    let (lacking, complete) = (
        found(no_score),
        found(|components| components.roles = Some(Arc::new(ScriptedRoles::only(Role::ALL)))),
    );
    assert!(
        told(&lacking, FindingKind::NoRoles, "score"),
        "{lacking:#?}"
    );
    assert!(!told(&complete, FindingKind::NoRoles, ""), "{complete:#?}");
    assert!(told(&complete, FindingKind::NoEmbedder, "assess"));
    let embeds = found(|components| {
        components.embedder = Some(Arc::new(journeyman::agent::HashedEmbedder::default()));
    });
    assert!(!told(&embeds, FindingKind::NoEmbedder, ""), "{embeds:#?}");
}

/// Asks ours, and halves its process score.
#[derive(Debug)]
struct Halves;

#[async_trait]
impl AssessProgram for Halves {
    async fn assess(
        &self,
        ask: &mut Ask,
        view: &View,
        attempt: &Trace,
    ) -> Result<Option<Assessed>> {
        let mut ours = journeyman::papers::scribe::AssessPolicy::default();
        ours.by = journeyman::papers::scribe::AssessBy::Steps;
        ours.calibrate = None;
        let assessed = ours.assess(ask, view, attempt).await?;
        Ok(assessed.map(|mut assessed| {
            assessed.process = assessed.process.map(|process| process / 2.0);
            assessed
        }))
    }
}

#[test]
fn an_assessor_of_the_hosts_own_can_ask_ours() {
    let mut recipe = super::assessing::scribe();
    recipe.assess = Some(Policy::new("halves"));
    let policies = Policies::new().with_assessor("halves", |_| Ok(Arc::new(Halves)));
    let options = Options::new("assess", Seed(7)).with_policies(policies);
    let components = super::assessing::scribe_parts(super::assessing::Judge::default());
    let report = block_on(async {
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(tasks(2)).await.expect("it learns")
    });
    // Each step has a score of 2 of 3.
    let processes: Vec<f64> = report.attempts().filter_map(|one| one.process).collect();
    assert!(!processes.is_empty());
    assert!(
        processes
            .iter()
            .all(|process| (process - 1.0 / 3.0).abs() < 1e-9)
    );
}
