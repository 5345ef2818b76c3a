//! A run as a machine and as a host sees it: order, saving, replay, faults. Scripted parts only.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and a hang needs a thread that ticks"
)]

mod banks;
mod between;
mod curating;
mod edges;
mod failures;
mod host;
mod machine;
mod recorded_roles;
mod reviews;
mod rollouts;
mod secrets;
mod selectors;
mod traced;
mod turns;

use std::{
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    sync::Arc,
};

use futures::{StreamExt, executor::block_on};
use journeyman::{
    Error, ErrorKind, RunId, Seed, TaskId,
    agent::{EnvironmentJudge, MemoryJournal, MemoryStore},
    contract::{
        Attempt, Components, Episode, Executor, Journal, PromptFormat, RoleAnswer, SkillScores,
        SkillStore, Total, TurnMove, TurnView,
    },
    domain::{
        Action, Decision, Mode, NothingReason, Prompt, Revision, Role, ScoreKind, Skill, Speaker,
        Step, Task, Trajectory, Verdict,
    },
    library::SkillLibrary,
    papers::arise::GainsPolicy,
    policy::{Answer, CommitDone, Played, Policy},
    recipe::{self, Recipe},
    run::{
        AddFate, Effect, EffectId, Journeyman, Options, RunEntry, RunMachine, RunPlan, replay,
        report::{AttemptReport, Event, EventKind, Finding, ProxyGain, RunReport},
    },
    stations::{
        propose::WriteWhen,
        reward::LevelReward,
        select::{GatePolicy, Nothing, SelectPer, Selected, Top},
    },
    testing::{
        FaultyStore, ManualClock, Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat,
        ScriptedJudge, ScriptedModel, ScriptedRetriever, ScriptedRoles, ScriptedScorer, StoreFault,
        sample,
    },
};

/// A little more than a judge may take: a clock that moves on by it while a judge hangs has that one given up and nothing else.
const JUDGE_LIMIT_MS: u64 = 61_000;

/// A number of a recipe.
const fn n32(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("a recipe's number is not 0")
}

/// A number of tasks.
const fn n64(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).expect("a number of tasks is not 0")
}

/// A selector that always takes the retriever's best skills, at most so many.
fn top(limit: usize) -> Policy {
    let limit = NonZeroUsize::new(limit).expect("a limit is not 0");
    Top::new(limit).into()
}

/// Changes the gate of a recipe that has one.
fn change_gate(recipe: &mut Recipe, change: impl FnOnce(&mut GatePolicy)) {
    let mut gate = recipe.gate().expect("a gate");
    change(&mut gate);
    recipe.set_gate(gate).expect("it had one");
}

fn recipe() -> Recipe {
    let mut recipe = recipe::standard();
    recipe.write.when = WriteWhen::Always;
    change_gate(&mut recipe, |gate| gate.absolute = Some(0.5));
    recipe
}

fn tasks(n: usize) -> Vec<Task> {
    let words = ["one", "two", "three"];
    (0..n)
        .map(|i| sample::task(&format!("task-{i}"), &[words[i % 3], words[(i + 1) % 3]]))
        .collect()
}

/// An agent that says the right words when it was given a skill or its seed is even, else a wrong one.
fn agent() -> ScriptedExecutor {
    agent_by(|_| ())
}

/// The same, told to somebody before each step.
fn agent_by(tell: impl Fn(&Attempt<'_>) + Send + Sync + 'static) -> ScriptedExecutor {
    ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
        tell(attempt);
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let knows = !attempt.injection.skills.is_empty() || attempt.seed.0.is_multiple_of(2);
        Play::Give(match (knows, words.get(steps.len())) {
            (true, Some(word)) => Some(Action::Message(word.clone())),
            _ => None,
        })
    })
}

fn writer_model() -> ScriptedModel {
    // The title follows from the prompt, so that three kinds of task give three skills.
    ScriptedModel::by(|request, _| {
        let text = request.prompt.text();
        let word = text.split("say ").nth(1).and_then(|t| t.split(' ').next());
        let word = word.unwrap_or("nothing");
        Play::Give(format!(
            "say-{word}: How to say {word} first.\nSay {word}, then the next."
        ))
    })
}

/// A prompt format without a question whether a skill fits.
#[derive(Debug)]
struct CannotAsk;

impl PromptFormat for CannotAsk {
    fn turn(&self, view: &TurnView<'_>) -> journeyman::Result<TurnMove> {
        ScriptedFormat.turn(view)
    }

    fn skill_text(&self, skill: &Skill) -> String {
        ScriptedFormat.skill_text(skill)
    }

    fn score_prompt(&self, query: &str) -> Prompt {
        ScriptedFormat.score_prompt(query)
    }
}

fn components() -> Components {
    let mut components = Components::new(
        Arc::new(agent()),
        Arc::new(ScriptedEnvironment::words()),
        Arc::new(EnvironmentJudge),
    );
    components.store = Some(Arc::new(MemoryStore::new()));
    components.journal = Some(Arc::new(MemoryJournal::new()));
    components.retriever = Some(Arc::new(ScriptedRetriever::new()));
    // A skill is likelier behind a query than behind none.
    components.scorer = Some(Arc::new(ScriptedScorer::by(|prompt, _| {
        Play::Give(if prompt.text().contains("say") {
            -0.5
        } else {
            -2.0
        })
    })));
    components.prompt_format = Some(Arc::new(ScriptedFormat));
    components.model = Some(Arc::new(writer_model()));
    components.roles = Some(Arc::new(ScriptedRoles::default()));
    components
}

async fn open(components: Components) -> Journeyman {
    Journeyman::open(components, recipe(), Options::new("test", Seed(7)))
        .await
        .expect("it opens")
}

fn learn(components: Components, n: usize) -> (RunReport, SkillLibrary) {
    block_on(async {
        let journeyman = open(components).await;
        let report = journeyman.learn(tasks(n)).await.expect("it learns");
        (report, journeyman.library().await.expect("a library"))
    })
}

/// Learns with one part replaced, and gives the report of the first task.
fn with(change: impl FnOnce(&mut Components)) -> (RunReport, SkillLibrary) {
    let mut components = components();
    change(&mut components);
    learn(components, 3)
}

/// What the journal says of a run: the findings at its start, and its events.
async fn journaled(journal: &dyn Journal, run: &RunId) -> (Vec<Finding>, Vec<EventKind>) {
    let entries = journal.read(run).await.expect("entries");
    let (mut found, mut happened) = (Vec::new(), Vec::new());
    for entry in &entries {
        match RunEntry::from_entry(entry).expect("an entry of a run") {
            RunEntry::Started { findings, .. } => found = findings,
            RunEntry::Happened { event } => happened.push(event.kind),
            _ => {}
        }
    }
    (found, happened)
}

/// The reasons for which a role failed, as the journal has them.
fn role_failures(happened: &[EventKind], of: Role) -> Vec<&str> {
    let failed = happened.iter().filter_map(|event| match event {
        EventKind::RoleFailed { role, reason } if *role == of => Some(reason.as_str()),
        _ => None,
    });
    failed.collect()
}

fn bytes(library: &SkillLibrary) -> String {
    library.to_json().expect("JSON")
}

#[test]
fn skills_are_written_and_then_used() {
    let (report, library) = learn(components(), 9);
    assert_eq!(report.tasks.len(), 9);
    assert_eq!(library.cache().count(), 3, "one skill a kind of task");
    let first = &report.tasks[0];
    assert_eq!(
        first.selections[0].decision,
        Decision::Nothing(NothingReason::NoCandidates)
    );
    let last = &report.tasks[8];
    assert!(last.selections[0].skill().is_some());
    assert!(last.attempts.iter().all(|a| a.success == Some(true)));
    assert!(last.attempts.iter().all(|a| a.reward == Some(2.0)));
    assert!(library.cache().any(|entry| entry.utility > 0.0));
}

#[test]
fn evaluation_is_greedy_and_changes_nothing() {
    let temperatures = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&temperatures);
    let mut components = components();
    let inner = agent_by(move |attempt| seen.lock().unwrap().push(attempt.temperature));
    components.executor = Some(Arc::new(inner));
    let drawn = || std::mem::take(&mut *temperatures.lock().unwrap());
    block_on(async {
        let journeyman = open(components).await;
        journeyman.learn(tasks(6)).await.expect("it learns");
        assert!(drawn().iter().all(|temperature| *temperature > 0.0));
        let before = journeyman.library().await.expect("a library");
        let report = journeyman.evaluate(tasks(6)).await.expect("it evaluates");
        assert!(drawn().iter().all(|temperature| *temperature == 0.0));
        assert_eq!(
            bytes(&journeyman.library().await.expect("a library")),
            bytes(&before)
        );
        assert!(report.tasks.iter().all(|task| task.attempts.len() == 1));
        assert!(report.tasks.iter().all(|task| task.written.is_empty()));
    });
}

#[test]
fn what_is_learnt_is_the_same_whatever_is_evaluated_in_between() {
    let learnt = |looks: usize| {
        block_on(async {
            let journeyman = open(components()).await;
            let mut seeds = Vec::new();
            for part in tasks(6).chunks(3) {
                seeds.push(
                    journeyman
                        .learn(part.to_vec())
                        .await
                        .expect("it learns")
                        .seed,
                );
                for _ in 0..looks {
                    journeyman.evaluate(tasks(2)).await.expect("it evaluates");
                }
            }
            (
                seeds,
                bytes(&journeyman.library().await.expect("a library")),
            )
        })
    };
    let (seeds, library) = learnt(0);
    assert_ne!(seeds[0], seeds[1]);
    assert_eq!(learnt(2), (seeds, library));
}

#[test]
fn a_replay_gives_the_same_bytes() {
    let components = components();
    let journal = components.journal.clone().expect("a journal");
    let (report, library) = learn(components, 9);
    let entries = block_on(journal.read(&report.run)).expect("entries");
    let machine = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
    assert!(machine.is_finished());
    assert_eq!(bytes(machine.library()), bytes(&library));
    let mut told = report;
    told.findings.clear();
    assert_eq!(machine.report(), told, "what was found is the session's");
}

#[test]
fn a_host_keeps_its_own_loop() {
    block_on(async {
        let journeyman = open(components()).await;
        let events = journeyman.events();
        let task = sample::task("own", &["one", "two"]);
        let mut handles = journeyman
            .begin_group(task.clone(), NonZeroUsize::new(3).expect("three"))
            .await
            .expect("it begins");
        let abandoned = handles.pop().expect("three");
        let mut reports = Vec::new();
        for (n, mut handle) in handles.into_iter().enumerate() {
            for step in sample::trajectory("x", &task, &["one", "two"], true).steps {
                handle.record(step);
            }
            let outcome = sample::outcome(n == 0);
            reports.push(handle.finish(Some(outcome)).await.expect("it finishes"));
        }
        assert!(
            reports.iter().all(Option::is_none),
            "one attempt is still open"
        );
        drop(abandoned);
        let settled = journeyman.settle().await.expect("it settles");
        let [report] = settled.as_slice() else {
            panic!("one group was ready: {settled:?}");
        };
        assert_eq!(
            report
                .attempts
                .iter()
                .map(|a| a.success)
                .collect::<Vec<_>>(),
            [Some(true), Some(false), None]
        );
        let library = journeyman.library().await.expect("a library");
        assert_eq!(
            library.cache().count(),
            1,
            "a skill was written from the success"
        );
        drop(journeyman);
        let events: Vec<Event> = events.collect().await;
        assert!(
            events
                .iter()
                .any(|e| matches!(e.kind, EventKind::Admitted { .. }))
        );

        let single = open(self::components()).await;
        let handle = single.begin(task).await.expect("it begins");
        assert!(handle.injection().skills.is_empty());
        let report = handle
            .finish(Some(sample::outcome(true)))
            .await
            .expect("it finishes");
        assert!(report.is_some_and(|report| report.attempts[0].success == Some(true)));
    });
}

#[test]
fn a_second_start_of_a_session_goes_on_counting() {
    let store: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    let run = |seed| {
        let mut components = components();
        components.store = Some(Arc::clone(&store));
        components.journal = None;
        block_on(async {
            Journeyman::open(components, recipe(), Options::new("same", Seed(seed)))
                .await?
                .learn(tasks(3))
                .await
        })
    };
    let first = run(1).expect("the first start learns");
    let second = run(2).expect("the second start learns");
    assert_eq!(first.run.as_str(), "same/learn-0");
    assert_eq!(second.run.as_str(), "same/learn-1");
    assert_eq!(second.revision, Revision(6));
}

#[test]
fn warm_up_selects_nothing_and_rewards_in_two_steps() {
    let mut recipe = recipe();
    recipe.attempts.warm_up = 2;
    let report = block_on(async {
        Journeyman::open(components(), recipe, Options::new("test", Seed(7)))
            .await?
            .learn(tasks(6))
            .await
    })
    .expect("it learns");
    for task in &report.tasks[..2] {
        assert_eq!(
            task.selections[0].decision,
            Decision::Nothing(NothingReason::WarmUp)
        );
        assert!(task.attempts.iter().all(|a| a.reward <= Some(1.0)));
        assert!(!task.written.is_empty() || task.attempts.iter().all(|a| a.success != Some(true)));
    }
    assert!(report.tasks[5].selections[0].skill().is_some());
}

#[test]
fn each_task_says_what_its_skills_gain() {
    let (report, _) = learn(components(), 9);
    let mut all = ProxyGain::default();
    let mut told = 0;
    for task in &report.tasks {
        for attempt in &task.attempts {
            let (reward, success) = (attempt.reward.unwrap(), attempt.success.unwrap());
            all.record(&attempt.injected, reward, success).unwrap();
        }
        for gain in &task.gains {
            assert_eq!(all.of(&gain.skill), Some(gain.proxy));
        }
        told += task.gains.len();
        let given = task
            .attempts
            .iter()
            .any(|attempt| !attempt.injected.is_empty());
        assert_eq!(given, !task.gains.is_empty());
    }
    assert!(told > 0);
    let evaluated = block_on(async { open(components()).await.evaluate(tasks(3)).await });
    assert!(
        evaluated
            .unwrap()
            .tasks
            .iter()
            .all(|task| task.gains.is_empty())
    );
}

/// Says what it does.
#[derive(Debug)]
struct Talking(ScriptedExecutor);

#[async_trait::async_trait]
impl Executor for Talking {
    async fn execute(
        &self,
        attempt: Attempt<'_>,
        episode: &mut dyn Episode,
    ) -> journeyman::Result<Trajectory> {
        let mut trajectory = self.0.execute(attempt, episode).await?;
        for step in &mut trajectory.steps {
            step.transcript = format!("{:?}", step.action);
        }
        Ok(trajectory)
    }
}

#[test]
fn the_exact_gain_is_measured_when_it_is_due_and_kept_with_the_skill() {
    let gains = |every: Option<NonZeroU64>, batch: u64, n: usize| {
        let mut recipe = recipe();
        if let Some(every) = every {
            recipe = recipe.with_program(every, GainsPolicy::default());
        }
        recipe.tiers.traces = 20;
        recipe.batch = n64(batch);
        let mut components = components();
        components.executor = Some(Arc::new(Talking(agent())));
        // Any word is likelier behind a task, and more so behind a skill.
        components.scorer = Some(Arc::new(ScriptedScorer::by(|prompt, _| {
            let mut messages = prompt.messages.iter();
            let injected = messages.any(|message| message.speaker == Speaker::System);
            Play::Give(match (prompt.text().contains("say"), injected) {
                (true, true) => -0.25,
                (true, false) => -0.5,
                (false, _) => -2.0,
            })
        })));
        let options = Options::new("test", Seed(7));
        block_on(async {
            let journeyman = Journeyman::open(components, recipe, options).await?;
            journeyman.learn(tasks(n)).await?;
            let library = journeyman.library().await?;
            let gained = library
                .entries()
                .filter_map(|entry| entry.life.gained.clone());
            Ok::<_, Error>(gained.collect::<Vec<_>>())
        })
        .expect("it learns")
    };
    assert!(gains(None, 1, 6).is_empty());
    assert!(gains(Some(n64(7)), 1, 6).is_empty(), "not due yet");
    // It counts tasks, whatever a batch has of them, and a batch that goes past the number is enough.
    assert!(gains(Some(n64(6)), 3, 5).is_empty(), "not due yet");
    assert!(!gains(Some(n64(6)), 3, 6).is_empty());
    assert!(!gains(Some(n64(5)), 3, 6).is_empty());
    let measured = gains(Some(n64(6)), 1, 6);
    assert!(!measured.is_empty());
    for one in measured {
        assert_eq!(one.gain.model.as_str(), "scripted");
        assert!(one.gain.attempts >= 1 && one.gain.nats > 0.0, "{one:?}");
        assert!(one.run.is_some());
    }
}

#[test]
fn a_binary_reward_is_that_of_the_task_alone() {
    let rewards = |binary| {
        let mut recipe = recipe();
        let mut rule = LevelReward::default();
        rule.binary = binary;
        recipe.reward.by = rule.into();
        let report = block_on(async {
            let journeyman = Journeyman::open(components(), recipe, Options::new("test", Seed(7)));
            journeyman.await?.learn(tasks(6)).await
        });
        let report = report.expect("it learns");
        let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
        let helped = attempts.filter(|a| a.success == Some(true) && !a.injected.is_empty());
        let rewards: Vec<f64> = helped.filter_map(|attempt| attempt.reward).collect();
        assert!(!rewards.is_empty());
        rewards
    };
    assert!(rewards(false).iter().all(|reward| *reward == 2.0));
    assert!(rewards(true).iter().all(|reward| *reward == 1.0));
}

#[test]
fn untrusted_words_make_a_tainted_skill_that_is_not_offered() {
    let world = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        seen.source = sample::source(journeyman::domain::Trust::Untrusted);
        Play::Give(seen)
    });
    let (_, library) = with(|b| b.environment = Some(Arc::new(world)));
    assert!(library.entries().count() > 0);
    assert_eq!(library.cache().count(), 0, "quarantined");
}
