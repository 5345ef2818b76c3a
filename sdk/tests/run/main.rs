//! A run as a machine and as a host sees it: order, saving, replay, faults. Scripted parts only.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and a hang needs a thread that ticks"
)]

mod edges;
mod secrets;

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use futures::{StreamExt, executor::block_on};
use journeyman::{
    Error, ErrorKind, Revision, RunId, Seed, TaskId,
    builtin::{EnvironmentJudge, MemoryJournal, MemoryStore},
    contract::{Attempt, Backends, Executor, SkillStore},
    domain::{Action, Step, Task, Trajectory, Verdict},
    library::SkillLibrary,
    recipe::{self, Recipe, SelectPer, WriteWhen},
    run::{
        Answer, CommitDone, Event, Journeyman, Need, NeedId, Options, RunMachine, RunPlan,
        RunReport, Written, replay,
    },
    select::{Decision, GatePolicy, Mode, NothingReason, Selector, SkillScores, Total},
    testing::{
        FaultyStore, ManualClock, Play, ScriptedDialect, ScriptedEnvironment, ScriptedExecutor,
        ScriptedJudge, ScriptedModel, ScriptedRetriever, ScriptedScorer, ScriptedWriter,
        StoreFault, sample,
    },
};

fn recipe() -> Recipe {
    let mut recipe = recipe::standard();
    recipe.write = WriteWhen::Always;
    recipe.selector = Selector::Gate(GatePolicy {
        absolute: Some(0.5),
        ..GatePolicy::default()
    });
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
    ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
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

fn backends() -> Backends {
    let mut backends = Backends::new(
        Arc::new(agent()),
        Arc::new(ScriptedEnvironment::words()),
        Arc::new(EnvironmentJudge),
    );
    backends.store = Some(Arc::new(MemoryStore::new()));
    backends.journal = Some(Arc::new(MemoryJournal::new()));
    backends.retriever = Some(Arc::new(ScriptedRetriever::new()));
    // A skill is likelier behind a query than behind none.
    backends.scorer = Some(Arc::new(ScriptedScorer::by(|prompt, _| {
        Play::Give(if prompt.text().contains("say") {
            -0.5
        } else {
            -2.0
        })
    })));
    backends.dialect = Some(Arc::new(ScriptedDialect));
    backends.model = Some(Arc::new(writer_model()));
    backends.writer = Some(Arc::new(ScriptedWriter));
    backends
}

async fn open(backends: Backends) -> Journeyman {
    Journeyman::open(backends, recipe(), Options::new("test", Seed(7)))
        .await
        .expect("it opens")
}

fn learn(backends: Backends, n: usize) -> (RunReport, SkillLibrary) {
    block_on(async {
        let journeyman = open(backends).await;
        let report = journeyman.learn(tasks(n)).await.expect("it learns");
        (report, journeyman.library().await.expect("a library"))
    })
}

fn bytes(library: &SkillLibrary) -> String {
    library.to_json().expect("JSON")
}

#[test]
fn skills_are_written_and_then_used() {
    let (report, library) = learn(backends(), 9);
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
    block_on(async {
        let journeyman = open(backends()).await;
        journeyman.learn(tasks(6)).await.expect("it learns");
        let before = journeyman.library().await.expect("a library");
        let report = journeyman.evaluate(tasks(6)).await.expect("it evaluates");
        assert_eq!(
            bytes(&journeyman.library().await.expect("a library")),
            bytes(&before)
        );
        assert!(report.tasks.iter().all(|task| task.attempts.len() == 1));
        assert!(report.tasks.iter().all(|task| task.written.is_none()));
    });
}

#[test]
fn a_replay_gives_the_same_bytes() {
    let backends = backends();
    let journal = backends.journal.clone().expect("a journal");
    let (report, library) = learn(backends, 9);
    let entries = block_on(journal.read(&report.run)).expect("entries");
    let machine = replay(&entries).expect("a replay");
    assert!(machine.is_finished());
    assert_eq!(bytes(machine.library()), bytes(&library));
    assert_eq!(machine.report(), report);
}

/// Performs every need of a machine with pure scripted answers, in an order that a seed shuffles.
fn perform(machine: &mut RunMachine, store: &MemoryStore, shuffle: Seed, mut stop_after: usize) {
    let mut round = 0;
    while !machine.is_finished() && stop_after > 0 {
        let needs = machine.needs();
        assert!(!needs.is_empty(), "an unfinished run needs something");
        let pick = shuffle
            .derive("pick", round)
            .index(needs.len())
            .unwrap_or(0);
        let (id, need) = needs.into_iter().nth(pick).expect("in range");
        machine
            .answer(id, answer(id, need, store))
            .expect("it fits");
        round += 1;
        stop_after -= 1;
    }
}

fn answer(id: NeedId, need: Need, store: &MemoryStore) -> Answer {
    match need {
        Need::Retrieve(query) => Answer::Retrieved(Ok(query
            .among
            .unwrap_or_default()
            .into_iter()
            .map(|id| journeyman::domain::Candidate {
                skill: journeyman::domain::SkillRef {
                    id,
                    version: journeyman::Version(1),
                },
                score: 1.0,
            })
            .collect())),
        Need::Score { skills, .. } => Answer::Scored(Ok(skills
            .iter()
            .map(|skill| SkillScores {
                skill: skill.reference(),
                conditional: Total {
                    sum: -1.0,
                    tokens: 3,
                },
                unconditional: Some(Total {
                    sum: -9.0,
                    tokens: 3,
                }),
            })
            .collect())),
        Need::Attempt(need) => {
            let success = need.seed.0.is_multiple_of(3) || !need.skills.is_empty();
            let said = sample::trajectory(need.attempt.as_str(), &need.task, &["one"], success);
            Answer::Attempted(Ok(Box::new(said)))
        }
        Need::Judge { trajectory, .. } => Answer::Judged(Ok(Verdict::binary(
            trajectory.outcome.is_some_and(|outcome| outcome.success),
        ))),
        Need::Write { task, .. } => {
            let draft = journeyman::domain::SkillDraft {
                title: format!("skill for {}", task.instruction),
                description: "What it does.".to_owned(),
                kind: journeyman::domain::Kind::Workflow,
                scope: journeyman::domain::Scope::General,
                trigger: None,
                body: format!("Body of {id}."),
                metadata: std::collections::BTreeMap::new(),
            };
            Answer::Written(Ok(Some(Written::by_model(
                draft,
                Vec::new(),
                Default::default(),
            ))))
        }
        Need::Commit(commit) => {
            let done = block_on(store.commit(&commit)).expect("it commits");
            Answer::Committed(CommitDone {
                committed: vec![done],
                rebased: 0,
            })
        }
        other => panic!("an unknown need: {other:?}"),
    }
}

fn plan(mode: Mode) -> RunPlan {
    let mut recipe = recipe();
    recipe.select_per = SelectPer::Rollout;
    RunPlan {
        run: RunId::new("run"),
        seed: Seed(11),
        recipe,
        mode,
        tasks: tasks(8),
        library: SkillLibrary::new(),
        width: 4,
    }
}

fn finished(shuffle: Seed) -> (String, Vec<Event>) {
    let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
    perform(&mut machine, &MemoryStore::new(), shuffle, usize::MAX);
    (bytes(machine.library()), machine.take_events())
}

#[test]
fn the_order_of_answers_does_not_matter() {
    let (library, events) = finished(Seed(0));
    for seed in 1..20 {
        let (other, others) = finished(Seed(seed));
        assert_eq!(other, library, "seed {seed}");
        assert_eq!(others, events, "seed {seed}");
    }
}

#[test]
fn events_of_a_parallel_evaluation_do_not_depend_on_order() {
    let run = |seed| {
        let mut machine = RunMachine::new(plan(Mode::Evaluate)).expect("a machine");
        perform(&mut machine, &MemoryStore::new(), Seed(seed), usize::MAX);
        machine.take_events()
    };
    let events = run(0);
    assert!((1..20).all(|seed| run(seed) == events));
}

#[test]
fn a_run_resumes_between_any_two_answers() {
    let (library, _) = finished(Seed(3));
    for steps in 1..60 {
        let store = MemoryStore::new();
        let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
        perform(&mut machine, &store, Seed(5), steps);
        let json = machine.save().expect("it saves");
        let mut resumed = RunMachine::resume(&json).expect("it resumes");
        assert_eq!(resumed, machine);
        perform(&mut resumed, &store, Seed(6), usize::MAX);
        assert_eq!(
            bytes(resumed.library()),
            library,
            "saved after {steps} answers"
        );
    }
}

#[test]
fn a_saved_run_of_another_schema_or_of_garbage_is_refused() {
    let check = |json: &str, kind: ErrorKind| {
        assert_eq!(
            RunMachine::resume(json).expect_err("refused").kind(),
            kind,
            "{json}"
        );
    };
    check("", ErrorKind::Corrupt);
    check("{\"schema\": 1}", ErrorKind::Corrupt);
    check("{\"schema\": 99}", ErrorKind::Unsupported);
}

#[test]
fn an_answer_that_nothing_waits_for_changes_nothing() {
    let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
    let before = machine.save().expect("it saves");
    let (id, _) = machine.needs().into_iter().next().expect("a need");
    let wrong = machine.answer(id, Answer::Written(Ok(None)));
    assert_eq!(wrong.expect_err("refused").kind(), ErrorKind::Invalid);
    assert_eq!(machine.save().expect("it saves"), before);
}

#[test]
fn an_answer_that_comes_twice_changes_nothing() {
    let store = MemoryStore::new();
    let mut machine = RunMachine::new(plan(Mode::Train)).expect("a machine");
    for _ in 0..40 {
        let (id, need) = machine.needs().into_iter().next().expect("a need");
        let given = answer(id, need, &store);
        machine.answer(id, given.clone()).expect("it fits");
        let before = machine.save().expect("it saves");
        if !matches!(given, Answer::Committed(_)) {
            machine.answer(id, given).expect("it is passed over");
        }
        assert_eq!(machine.save().expect("it saves"), before, "{id}");
    }
}

#[test]
fn bad_plans_are_refused() {
    let check = |plan: RunPlan, words: &str| {
        let error = RunMachine::new(plan).expect_err("refused");
        assert!(error.to_string().contains(words), "{error}");
    };
    let none = RunPlan {
        tasks: Vec::new(),
        ..plan(Mode::Train)
    };
    check(none, "the task stream is empty");
    let mut twice = plan(Mode::Train);
    twice.tasks[1].id = TaskId::new("task-0");
    check(twice, "two tasks have the same id");
    let mut group = plan(Mode::Train);
    group.recipe.group = 0;
    check(group, "a group needs at least one attempt");
}

/// Learns with one part replaced, and gives the report of the first task.
fn with(change: impl FnOnce(&mut Backends)) -> (RunReport, SkillLibrary) {
    let mut backends = backends();
    change(&mut backends);
    learn(backends, 3)
}

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
fn a_judge_that_hangs_is_given_up() {
    let clock = Arc::new(ManualClock::at(journeyman::Timestamp(0)));
    let mut backends = backends();
    backends.judge = Arc::new(ScriptedJudge::that(Play::Hang));
    backends.clock = Some(Arc::clone(&clock) as _);
    let ticking = std::thread::spawn({
        let clock = Arc::clone(&clock);
        move || {
            for _ in 0..2_000 {
                clock.advance(5_000);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    });
    let (report, _) = learn(backends, 1);
    let error = report.tasks[0].attempts[0]
        .error
        .as_ref()
        .expect("an error");
    assert_eq!(error.kind(), ErrorKind::Timeout);
    drop(ticking);
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
            .all(|a| a.injected.is_none() && a.error.is_none())
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
        .find_map(|t| t.written.as_ref())
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

#[test]
fn a_host_keeps_its_own_loop() {
    block_on(async {
        let journeyman = open(backends()).await;
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
        assert!(events.iter().any(|e| matches!(e, Event::Admitted { .. })));

        let single = open(self::backends()).await;
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
fn a_session_name_used_twice_over_one_store_is_refused() {
    let store: Arc<dyn SkillStore> = Arc::new(MemoryStore::new());
    let run = |seed| {
        let mut backends = backends();
        backends.store = Some(Arc::clone(&store));
        backends.journal = None;
        block_on(async {
            Journeyman::open(backends, recipe(), Options::new("same", Seed(seed)))
                .await?
                .learn(tasks(3))
                .await
        })
    };
    run(1).expect("the first session learns");
    let error = run(2).expect_err("the second is refused");
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

#[test]
fn warm_up_selects_nothing_and_rewards_in_two_steps() {
    let mut recipe = recipe();
    recipe.warm_up = 2;
    let report = block_on(async {
        Journeyman::open(backends(), recipe, Options::new("test", Seed(7)))
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
        assert!(task.written.is_some() || task.attempts.iter().all(|a| a.success != Some(true)));
    }
    assert!(report.tasks[5].selections[0].skill().is_some());
}

#[test]
fn untrusted_words_make_a_tainted_skill_that_is_not_offered() {
    let world = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        seen.source = sample::source(journeyman::domain::Trust::Untrusted);
        Play::Give(seen)
    });
    let (_, library) = with(|b| b.environment = Arc::new(world));
    assert!(library.entries().count() > 0);
    assert_eq!(library.cache().count(), 0, "quarantined");
}
