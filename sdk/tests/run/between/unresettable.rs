//! A world that cannot be set up again: each task is attempted once, nothing is replayed, and skills are judged by later attempts.

use std::collections::BTreeMap;

use journeyman::{
    contract::{Environment, EnvironmentCapabilities},
    papers::{scribe::TrialOptions, skillos::Rollouts},
    run::report::{Finding, FindingKind},
};

use super::*;

/// Sets each task up once. A second time is an error, and is counted.
#[derive(Debug, Default)]
struct Once {
    resets: Mutex<BTreeMap<TaskId, u32>>,
}

impl Once {
    fn most(&self) -> u32 {
        self.resets
            .lock()
            .unwrap()
            .values()
            .copied()
            .max()
            .unwrap_or(0)
    }
}

#[async_trait]
impl Environment for Once {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::default()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        let count = {
            let mut resets = self.resets.lock().unwrap();
            let count = resets.entry(task.id.clone()).or_default();
            *count += 1;
            *count
        };
        match count {
            1 => ScriptedEnvironment::words().reset(task, seed).await,
            _ => Err(Error::new(
                ErrorKind::Internal,
                "Once::reset",
                "a second time",
            )),
        }
    }
}

struct Learned {
    report: RunReport,
    library: SkillLibrary,
    prompts: Vec<String>,
    findings: Vec<Finding>,
    resets: u32,
}

fn learn_once(recipe: Recipe, script: Script, n: usize) -> Learned {
    let (mut components, prompts) = parts(script);
    let world = Arc::new(Once::default());
    components.environment = Some(Arc::clone(&world) as _);
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options)
            .await
            .expect("it opens");
        let report = journeyman.learn(tasks(n)).await.expect("it learns");
        let prompts = prompts.lock().unwrap().clone();
        Learned {
            report,
            library: journeyman.library().await.expect("a library"),
            prompts,
            findings: journeyman.findings(),
            resets: world.most(),
        }
    })
}

fn about(findings: &[Finding]) -> Vec<&str> {
    let replays = findings
        .iter()
        .filter(|one| one.kind == FindingKind::NothingReplays);
    replays.filter_map(|one| one.about.as_deref()).collect()
}

#[test]
fn hisme_gains_with_nothing_replayed() {
    for recipe in [hisme(), recipe::hisme()] {
        let learned = learn_once(recipe, Script::default(), 15);
        assert_eq!(learned.resets, 1, "no task was set up twice");
        assert_eq!(learned.report.errors().count(), 0, "{}", learned.report);
        assert_eq!(learned.report.maintenance.attempts, 0);
        let asked = |role: &str| {
            let role = format!("role: {role}");
            learned
                .prompts
                .iter()
                .filter(|text| text.contains(&role))
                .count()
        };
        assert_eq!(
            asked("bundle"),
            0,
            "a role was asked for cases that nobody plays"
        );
        // Later attempts released the skills, and tasks with them go better than those before.
        let active = learned.library.entries();
        let active = active.filter(|entry| entry.skill.state == State::Active);
        assert_eq!(active.count(), 3);
        let score = |range: std::ops::Range<usize>| {
            let tasks = &learned.report.tasks[range];
            let scores = tasks
                .iter()
                .flat_map(|task| &task.attempts)
                .map(|one| one.steps);
            scores.sum::<u32>()
        };
        assert!(score(0..3) > score(12..15), "fewer steps: none is refused");
        assert_eq!(about(&learned.findings), ["bundles", "versions"]);
    }
}

#[test]
fn a_group_is_one_attempt() {
    let mut arise = recipe::arise();
    arise.batch = n64(2);
    arise.attempts.warm_up = 0;
    arise.attempts.group = n32(4);
    let (mut components, world) = (components(), Arc::new(Once::default()));
    components.environment = Some(Arc::clone(&world) as _);
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, arise, options)
            .await
            .expect("it opens");
        let report = journeyman.learn(tasks(12)).await.expect("it learns");
        assert!(report.tasks.iter().all(|task| task.attempts.len() == 1));
        assert_eq!((world.most(), report.errors().count()), (1, 0));
        assert!(report.written().any(|written| written.admitted.is_some()));
        assert_eq!(about(&journeyman.findings()), ["groups"]);
    });
}

#[test]
fn what_needs_a_second_attempt_declines() {
    let (mut components, world) = (components(), Arc::new(Once::default()));
    components.environment = Some(Arc::clone(&world) as _);
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe(), options)
            .await
            .expect("it opens");
        let task = sample::task("greet", &["one", "two"]);
        let trace = sample::trace("test/learn-0/0/0", &task, &["one", "two"], true);
        let subgoal = sample::subgoal("say the first word", 0, 0);
        let options = TrialOptions::new(n32(2));
        let refused = |error: Error| {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.hint_text().unwrap().contains("resettable"), "{error}");
        };
        refused(
            journeyman
                .subgoal_rollouts(&trace, &subgoal, &options)
                .await
                .unwrap_err(),
        );
        refused(
            journeyman
                .plan_trials(task.clone(), &[], &options)
                .await
                .unwrap_err(),
        );
        let rollouts = |count| {
            Rollouts::new(n32(count)).with_retriever(|| Ok(Arc::new(ScriptedRetriever::new())))
        };
        refused(
            journeyman
                .roll_out(vec![task.clone()], &rollouts(2))
                .await
                .unwrap_err(),
        );
        assert_eq!(world.most(), 0);
        // One rollout repeats nothing.
        let one = journeyman
            .roll_out(vec![task], &rollouts(1))
            .await
            .expect("it runs");
        assert_eq!(
            one[0].as_ref().expect("a rollout").report.errors().count(),
            0
        );
        assert_eq!(world.most(), 1);
    });
}

#[test]
fn an_attempt_that_was_under_way_is_not_made_again() {
    let world = Arc::new(Once::default());
    let with = |agent: ScriptedExecutor| {
        let mut components = components();
        components.environment = Some(Arc::clone(&world) as _);
        components.executor = Some(Arc::new(agent));
        components
    };
    let mut first = with(ScriptedExecutor::acting(|_, _| Play::Hang));
    let journal = Arc::new(MemoryJournal::new());
    first.journal = Some(Arc::clone(&journal) as _);
    let store = first.store.clone();
    block_on(async {
        let options = || Options::new("test", Seed(7));
        let journeyman = Journeyman::open(first, recipe(), options())
            .await
            .expect("it opens");
        let learning = Box::pin(journeyman.learn(tasks(3)));
        // The first attempt never ends; the process ends.
        assert!(futures::poll!(learning).is_pending());
        drop(journeyman);
        let mut second = with(agent());
        second.journal = Some(journal);
        second.store = store;
        let journeyman = Journeyman::open(second, recipe(), options())
            .await
            .expect("it opens");
        let report = journeyman
            .resume(&RunId::new("test/learn-0"))
            .await
            .expect("it goes on");
        assert_eq!(report.tasks.len(), 3);
        let failed: Vec<usize> = (0..3)
            .filter(|at| report.tasks[*at].attempts[0].error.is_some())
            .collect();
        assert_eq!(failed, [0]);
        let error = report.tasks[0].attempts[0]
            .error
            .as_ref()
            .expect("an error");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(world.most(), 1, "no task was set up twice");
    });
}
