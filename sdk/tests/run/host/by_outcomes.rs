//! A gate's threshold that is fitted on tasks of kept attempts, each attempted again with the best candidate and without any skill.

use std::{collections::BTreeSet, sync::Mutex};

use journeyman::{
    Retry, SkillId,
    contract::{Judge, JudgeRequest, Scorer},
    domain::FoundWeight,
    run::{OutcomeCalibration, ThresholdBy},
    stations::select::{ByOutcomes, GateCalibration, HarmBound},
};

use super::{proven::With, *};

/// Seven tasks show it at least.
const BOUND: HarmBound = HarmBound::new(0.3, 0.1);

/// How likely any skill is: behind tasks of `w` with a number more or less, behind those of `v` a quarter of that, and behind none less.
fn likelihood(prompt: &Prompt, _: &str) -> Play<f64> {
    let text = prompt.text();
    let words = text.split("say ").nth(1);
    let word = words.and_then(|rest| rest.split(' ').next());
    let number = |letter: char| -> Option<u32> {
        let digits = word.and_then(|word| word.strip_prefix(letter));
        digits.and_then(|digits| digits.parse().ok())
    };
    let place = |number: u32| f64::from(number * 37 % 100);
    Play::Give(match (number('w'), number('v')) {
        (Some(number), _) => -2.9 + 0.01 * place(number),
        (_, Some(number)) => -2.9 + 0.0025 * place(number),
        _ => -3.0,
    })
}

pub(super) fn scorer() -> Arc<ScriptedScorer> {
    Arc::new(ScriptedScorer::by(likelihood))
}

/// Tasks with a letter and a number as their first word.
pub(super) fn numbered(letter: char, numbers: std::ops::Range<usize>) -> Vec<Task> {
    let task = |number| {
        let word = format!("{letter}{number}");
        sample::task(&format!("{word}-{number}"), &[word.as_str(), "end"])
    };
    numbers.map(task).collect()
}

/// A gate that lets each skill through that is a little likelier behind the task, and nothing is written.
pub(super) fn gated() -> Recipe {
    let mut recipe = recipe();
    change_gate(&mut recipe, |gate| gate.epsilon = 0.0);
    recipe.write.when = WriteWhen::Never;
    recipe.tiers.traces = 200;
    recipe.attempts.group = n32(1);
    recipe
}

/// The parts of a session in which all skills are candidates.
pub(super) fn parts(store: &Arc<MemoryStore>, scorer: Arc<dyn Scorer>, model: &str) -> Components {
    let mut parts = components();
    parts.store = Some(Arc::clone(store) as _);
    parts.retriever = None;
    parts.scorer = Some(scorer);
    parts.executor = Some(With::model(model));
    parts
}

/// A store with these skills, and the attempts that were kept of learning from so many tasks with them.
async fn learned(skills: Vec<Skill>, tasks: usize) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let parts = parts(&store, scorer(), "first");
    let journeyman = open_as("before", &parts, gated()).await;
    if !skills.is_empty() {
        let added = journeyman.add(skills, "a start").await;
        added.expect("added");
    }
    let report = journeyman.learn(numbered('w', 0..tasks)).await;
    report.expect("it learns");
    store
}

async fn learned_with(skill: &str, tasks: usize) -> Arc<MemoryStore> {
    learned(vec![sample::skill(skill)], tasks).await
}

/// The parts of a session over a store with an agent of the test's own.
fn parts_with(store: &Arc<MemoryStore>, agent: &Arc<ScriptedExecutor>) -> Components {
    let mut parts = parts(store, scorer(), "first");
    parts.executor = Some(Arc::clone(agent) as _);
    parts
}

async fn calibration(journeyman: &Journeyman, tasks: u64) -> OutcomeCalibration {
    let calibration = journeyman.calibrate_by_outcomes(BOUND, tasks).await;
    calibration.expect("it is counted")
}

fn fitted(calibration: OutcomeCalibration) -> GateCalibration {
    let told = calibration.to_string();
    match calibration.fit {
        ByOutcomes::Fitted(fitted) => *fitted,
        _ => panic!("{told}"),
    }
}

/// The tasks that a calibration by this seed attempts.
async fn drawn(store: &Arc<MemoryStore>, seed: u64, tasks: u64) -> BTreeSet<TaskId> {
    let seen: Arc<Mutex<BTreeSet<TaskId>>> = Arc::default();
    let sees = Arc::clone(&seen);
    let agent = ScriptedExecutor::acting(move |attempt, _| {
        let mut seen = sees.lock().expect("no panic");
        seen.insert(attempt.task.id.clone());
        Play::Give(None)
    });
    let agent = Arc::new(agent);
    let parts = parts_with(store, &agent);
    let opened = Journeyman::open(parts, gated(), Options::new("drawn", Seed(seed))).await;
    let calibration = calibration(&opened.expect("it opens"), tasks).await;
    assert_eq!(calibration.tasks, tasks, "{calibration}");
    // Once without a skill, once with one.
    assert_eq!(agent.calls() as u64, 2 * tasks);
    seen.lock().expect("no panic").clone()
}

#[test]
fn the_same_tasks_are_drawn_by_a_seed_whatever_they_came_to_and_whatever_skill_they_had() {
    block_on(async {
        let (good, bad) = (
            learned_with("good", 40).await,
            learned_with("bad", 40).await,
        );
        let all_done = |library: SkillLibrary| library.traces().all(|trace| trace.is_success());
        for (store, done) in [(&good, true), (&bad, false)] {
            let journeyman = open_as("look", &parts(store, scorer(), "first"), gated()).await;
            assert_eq!(all_done(journeyman.library().await.expect("read")), done);
        }
        let tasks = drawn(&good, 7, 25).await;
        assert_eq!(tasks.len(), 25, "each once");
        assert_eq!(drawn(&bad, 7, 25).await, tasks);
        assert_ne!(drawn(&good, 8, 25).await, tasks);
    });
}

#[test]
fn a_skill_that_harms_half_of_the_tasks_harms_fewer_than_the_bound() {
    block_on(async {
        let store = learned_with("bad", 60).await;
        let parts = parts(&store, scorer(), "first");
        let journeyman = open_as("fits", &parts, gated()).await;
        let before = journeyman.library().await.expect("read");
        let calibration = calibration(&journeyman, 60).await;
        assert_eq!((calibration.tasks, calibration.left_out), (60, 0));
        let model = calibration.model.as_ref().map(ToString::to_string);
        assert_eq!(model.as_deref(), Some("first"));
        let fitted = fitted(calibration);
        let harmed = fitted.outcomes.expect("fitted on them").fitted.harmed;
        assert_eq!(harmed.of, 60);
        assert!((1..18).contains(&harmed.count), "{harmed}");
        // Nothing is committed, and no pair is kept.
        let after = journeyman.library().await.expect("read");
        assert_eq!(after.revision(), before.revision());
        let entry = after.get(&SkillId::new("bad")).expect("there");
        assert_eq!(entry.life.pairs(entry.skill.version).count(), 0);

        // At new tasks, too: every second is done without the skill, and none with it.
        let mut recipe = gated();
        recipe.calibrate(&fitted).expect("it is for this score");
        let calibrated = open_as("calibrated", &parts, recipe).await;
        let gate = calibrated.gate().await.expect("known").expect("a gate");
        assert_eq!(gate.by, ThresholdBy::Calibration);
        assert_eq!(gate.threshold, Some(fitted.threshold));
        let report = calibrated.evaluate(numbered('w', 100..200)).await;
        let report = report.expect("evaluated");
        let given = (0..).zip(&report.tasks);
        let given = given.filter(|(_, task)| task.selections[0].skill().is_some());
        let harmed = given.filter(|(number, _): &(u32, _)| number.is_multiple_of(2));
        let harmed = harmed.count();
        assert!((1..30).contains(&harmed), "{harmed} of 100");
    });
}

#[test]
fn where_nothing_harms_the_lowest_score_that_was_tried_is_the_threshold() {
    block_on(async {
        let store = learned_with("good", 40).await;
        let parts = parts(&store, scorer(), "first");
        // A threshold that lets nothing through is no limit to what is tried.
        let mut closed = gated();
        change_gate(&mut closed, |gate| gate.absolute = Some(1e6));
        let journeyman = open_as("fits", &parts, closed).await;
        let fitted = fitted(calibration(&journeyman, 40).await);
        assert_eq!(fitted.fitted_for.model.as_str(), "scripted");
        let scores = fitted.scores.as_ref().expect("they are kept");
        assert_eq!(scores.values.len(), 40);
        let lowest = scores.values.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(fitted.threshold, lowest);
        let outcomes = fitted.outcomes.expect("fitted on them");
        assert_eq!(
            (outcomes.fitted.harmed.count, outcomes.fitted.helped.of),
            (0, 40)
        );
    });
}

/// The best candidate at a task that nothing was learned from, and its score.
async fn best_at_a_new_task(journeyman: &Journeyman) -> (String, f64) {
    let report = journeyman.evaluate(numbered('w', 100..101)).await;
    let report = report.expect("evaluated");
    let best = report.tasks[0].selections[0].best().expect("scored");
    (best.skill.id.to_string(), best.value)
}

#[test]
fn the_candidates_that_are_tried_are_those_that_the_calibrated_gate_decides_about() {
    // A model that was trained to score and knows one of two skills. Behind a task the other one gains more.
    let knows_right_alone = ScriptedScorer::by(|prompt, text| {
        let is_alone = prompt.text().trim() == "skill:";
        Play::Give(match (text.contains("How to do right"), is_alone) {
            (true, true) => -3.0,
            (true, false) => -0.5,
            (false, true) => -9.0,
            (false, false) => -1.0,
        })
    });
    block_on(async {
        let skills = ["right", "other"].map(sample::skill);
        let store = learned(skills.into(), 20).await;
        let parts = parts(&store, Arc::new(knows_right_alone), "first");
        let mut recipe = gated();
        change_gate(&mut recipe, |gate| gate.absolute = Some(5.0));
        let journeyman = open_as("fits", &parts, recipe.clone()).await;
        assert_eq!(best_at_a_new_task(&journeyman).await.0, "right");
        let fitted = fitted(calibration(&journeyman, 20).await);

        recipe.calibrate(&fitted).expect("it is for this score");
        let calibrated = open_as("calibrated", &parts, recipe).await;
        let (best, value) = best_at_a_new_task(&calibrated).await;
        assert_eq!(best, "other");
        let scores = fitted.scores.expect("they are kept").values;
        let alike = |score: &f64| (score - value).abs() < 1e-9;
        assert!(scores.iter().all(alike), "{scores:?} and {value}");
    });
}

#[test]
fn too_few_tasks_are_not_yet_before_anything_is_scored_or_attempted() {
    block_on(async {
        let store = learned_with("good", 10).await;
        let (agent, scorer) = (
            Arc::new(ScriptedExecutor::acting(|_, _| Play::Give(None))),
            scorer(),
        );
        let mut parts = parts_with(&store, &agent);
        parts.scorer = Some(Arc::clone(&scorer) as Arc<dyn Scorer>);
        let journeyman = open_as("fits", &parts, gated()).await;
        let scored = scorer.calls();
        let few = journeyman
            .calibrate_by_outcomes(HarmBound::default(), 200)
            .await;
        let few = few.expect("it is counted");
        assert_eq!(few.fit, ByOutcomes::NotYet { more: 35 });
        assert_eq!(
            few.to_string(),
            "not yet fitted: 10 tasks, at least 45 needed"
        );
        // So many are asked for, not so many kept.
        let asked = journeyman.calibrate_by_outcomes(BOUND, 6).await;
        assert_eq!(
            asked.expect("it is counted").fit,
            ByOutcomes::NotYet { more: 1 }
        );
        assert_eq!((agent.calls(), scorer.calls()), (0, scored));
        calibration(&journeyman, 7).await;
        assert_eq!(agent.calls(), 14);
    });
}

#[test]
fn a_task_whose_candidate_was_written_from_it_is_left_out_and_counts_neither_as_harmed_nor_as_not_harmed()
 {
    block_on(async {
        let mut own = sample::skill("bad");
        let tasks = numbered('w', 0..30).into_iter().take(10);
        own.provenance.tasks = tasks.map(|task| task.id).collect();
        let store = learned(vec![own], 30).await;
        let journeyman = open_as("fits", &parts(&store, scorer(), "first"), gated()).await;
        let calibration = calibration(&journeyman, 30).await;
        assert_eq!((calibration.tasks, calibration.without), (20, 0));
        assert_eq!((calibration.own, calibration.left_out), (10, 0));
        let told = calibration.to_string();
        assert!(told.contains("made with them: 10"), "{told}");
        let fitted = fitted(calibration);
        assert_eq!(
            fitted.outcomes.expect("fitted on them").fitted.harmed.of,
            20
        );
        assert_eq!(fitted.scores.expect("they are kept").values.len(), 20);

        // With too few others nothing is attempted.
        let agent = Arc::new(ScriptedExecutor::acting(|_, _| Play::Give(None)));
        let too_few = BOUND.with_most(0.1);
        let journeyman = open_as("few", &parts_with(&store, &agent), gated()).await;
        let calibration = journeyman.calibrate_by_outcomes(too_few, 30).await;
        let calibration = calibration.expect("it is counted");
        assert_eq!(calibration.fit, ByOutcomes::NotYet { more: 2 });
        assert_eq!((calibration.tasks, calibration.own), (20, 10));
        assert_eq!(agent.calls(), 0);

        let empty = learned(Vec::new(), 8).await;
        let journeyman = open_as("empty", &parts(&empty, scorer(), "first"), gated()).await;
        let error = journeyman.calibrate_by_outcomes(BOUND, 8).await;
        let error = error.expect_err("there is no skill");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("no task a candidate"), "{error}");
    });
}

#[test]
fn tasks_at_which_both_attempts_fail_are_left_out_up_to_a_tenth() {
    block_on(async {
        let store = learned_with("good", 20).await;
        for (fails, passes, left_out) in [
            (2_u64, true, Some(2)),
            (2, false, Some(2)),
            (3, true, None),
            (3, false, None),
        ] {
            let agent = ScriptedExecutor::acting(move |attempt: &Attempt<'_>, _: &[Step]| {
                let number = attempt.task.id.as_str().rsplit('-').next();
                let number: u64 = number.and_then(|last| last.parse().ok()).unwrap_or(0);
                let busy = Error::new(ErrorKind::Unavailable, "Executor::execute", "it is busy");
                match number < fails {
                    true if passes => Play::Fail(busy.temporary()),
                    true => Play::Fail(busy),
                    false => Play::Give(None),
                }
            });
            let parts = parts_with(&store, &Arc::new(agent));
            let journeyman = open_as("fits", &parts, gated()).await;
            let calibration = journeyman.calibrate_by_outcomes(BOUND, 20).await;
            match left_out {
                Some(count) => {
                    let calibration = calibration.expect("it is fitted");
                    assert_eq!((calibration.tasks, calibration.left_out), (18, count));
                    let told = calibration.to_string();
                    assert!(told.contains("left out, since they failed: 2"), "{told}");
                }
                None => {
                    let error = calibration.expect_err("too many fail");
                    assert_eq!(error.kind(), ErrorKind::Unavailable);
                    assert_eq!(error.retry() == Retry::Temporary, passes, "{error}");
                    let message = "3 of 20 drawn tasks failed";
                    assert!(error.message().contains(message), "{error}");
                    assert!(error.message().contains("it is busy"), "{error}");
                }
            }
        }
    });
}

#[test]
fn where_all_attempts_fail_the_fit_ends_before_all_tasks_are_attempted() {
    block_on(async {
        let store = learned_with("good", 60).await;
        let agent = Arc::new(ScriptedExecutor::acting(|_, _| {
            Play::Fail(Error::invalid("Executor::execute", "the task is not known"))
        }));
        let parts = parts_with(&store, &agent);
        let journeyman = open_as("fits", &parts, gated()).await;
        let error = journeyman.calibrate_by_outcomes(BOUND, 60).await;
        let error = error.expect_err("all fail");
        assert_eq!(error.retry(), Retry::Permanent);
        assert!(error.message().contains("32 of 60 drawn"), "{error}");
        assert_eq!(agent.calls(), 64);
    });
}

#[test]
fn an_attempt_that_fails_with_the_skill_alone_counts_as_harm() {
    block_on(async {
        let store = learned_with("good", 20).await;
        for passes in [false, true] {
            let agent = ScriptedExecutor::acting(move |attempt: &Attempt<'_>, steps: &[Step]| {
                let words: Vec<String> =
                    serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
                let too_long =
                    Error::new(ErrorKind::Timeout, "Executor::execute", "it is too long");
                match attempt.injection.skills.is_empty() {
                    true => Play::Give(words.get(steps.len()).cloned().map(Action::Message)),
                    false if passes => Play::Fail(too_long.temporary()),
                    false => Play::Fail(too_long),
                }
            });
            let parts = parts_with(&store, &Arc::new(agent));
            let journeyman = open_as("fits", &parts, gated()).await;
            let calibration = calibration(&journeyman, 20).await;
            assert_eq!((calibration.tasks, calibration.left_out), (20, 0));
            let fitted = fitted(calibration);
            let harmed = fitted.outcomes.expect("fitted on them").fitted.harmed;
            let scores = fitted.scores.expect("they are kept").values;
            let above = scores.iter().filter(|score| **score > fitted.threshold);
            assert_eq!(harmed.count as usize, above.count());
            assert!((1..6).contains(&harmed.count), "{harmed}");
        }
    });
}

/// A judge that says what the world does about each attempt but these, of which it knows nothing.
fn judge(is_unknown: impl Fn(&JudgeRequest<'_>) -> bool + Send + Sync + 'static) -> Arc<dyn Judge> {
    Arc::new(ScriptedJudge::by(move |request, _| {
        let outcome = request.trajectory.outcome.as_ref();
        let is_done = outcome.is_some_and(|outcome| outcome.success);
        Play::Give(match is_unknown(request) {
            true => Verdict::undecided(),
            false => Verdict::binary(is_done),
        })
    }))
}

/// The number at the end of a task's id.
fn number(task: &Task) -> u64 {
    let last = task.id.as_str().rsplit('-').next();
    last.and_then(|last| last.parse().ok()).unwrap_or(0)
}

#[test]
fn tasks_that_the_judge_does_not_know_are_left_out_and_said() {
    block_on(async {
        let store = learned_with("bad", 30).await;
        let mut parts = parts(&store, scorer(), "first");
        parts.judge = Some(judge(|request| number(request.task) < 10));
        let journeyman = open_as("fits", &parts, gated()).await;
        let calibration = calibration(&journeyman, 30).await;
        assert_eq!((calibration.tasks, calibration.unjudged), (20, 10));
        assert_eq!((calibration.left_out, calibration.own), (0, 0));
        let told = calibration.to_string();
        let said = "; 10 tasks left out: the judge gave no verdict";
        assert!(told.contains(said), "{told}");
        // They are in no count of the fit, and neither are their scores.
        let fitted = fitted(calibration);
        let harmed = fitted.outcomes.expect("fitted on them").fitted.harmed;
        assert_eq!(harmed.of, 20);
        assert_eq!(fitted.scores.expect("they are kept").values.len(), 20);
    });
}

#[test]
fn where_the_judge_knows_too_few_tasks_the_answer_is_not_yet() {
    block_on(async {
        let store = learned_with("good", 60).await;
        // All are drawn, in two batches; the judge knows those from a number on.
        let told_of = |known: u64| {
            let store = Arc::clone(&store);
            async move {
                let with = With::model("first");
                let mut parts = parts(&store, scorer(), "first");
                parts.executor = Some(Arc::clone(&with) as _);
                parts.judge = Some(judge(move |request| number(request.task) < known));
                let journeyman = open_as("fits", &parts, gated()).await;
                (calibration(&journeyman, 60).await, with.1.calls())
            }
        };
        // None of the first batch is known: the second one is not attempted.
        let (none, calls) = told_of(60).await;
        assert_eq!(none.fit, ByOutcomes::NotYet { more: 7 });
        assert_eq!((none.tasks, none.unjudged), (0, 32));
        assert_eq!(calls, 64);
        assert_eq!(
            none.to_string(),
            "not yet fitted: 0 tasks, at least 7 needed; 32 tasks left out: the judge gave no verdict"
        );
        // Of all, four are known, of which the first batch may have some.
        let (few, calls) = told_of(56).await;
        assert!(few.tasks <= 4, "{few}");
        let more = 7 - few.tasks;
        assert_eq!(few.fit, ByOutcomes::NotYet { more });
        assert_eq!(calls as u64, 2 * (few.tasks + few.unjudged));
        // As many as are needed.
        let (enough, _) = told_of(53).await;
        assert_eq!((enough.tasks, enough.unjudged), (7, 53));
        assert!(matches!(enough.fit, ByOutcomes::Fitted(_)), "{enough}");
    });
}

#[test]
fn enough_tasks_without_a_candidate_are_no_fit_where_no_other_has_a_verdict() {
    block_on(async {
        // A search finds the skill at five tasks alone.
        let mut skill = sample::skill("good");
        skill.body = "For w0, w1, w2, w3, w4.".to_owned();
        let store = learned(vec![skill], 60).await;
        let with = With::model("first");
        let mut parts = parts(&store, scorer(), "first");
        parts.executor = Some(Arc::clone(&with) as _);
        parts.retriever = Some(Arc::new(ScriptedRetriever::new()));
        parts.judge = Some(judge(|request| number(request.task) < 5));
        let journeyman = open_as("fits", &parts, gated()).await;
        let none = calibration(&journeyman, 60).await;
        assert_eq!((none.tasks, none.without, none.unjudged), (55, 55, 5));
        assert_eq!(with.1.calls(), 10);
        assert_eq!(none.fit, ByOutcomes::NotYet { more: 1 });
        assert_eq!(
            none.to_string(),
            "not yet fitted: no task with a candidate has a verdict, and 55 have no candidate; 5 tasks left out: the judge gave no verdict"
        );
        // With one verdict there is a threshold.
        parts.judge = Some(judge(|request| number(request.task) < 4));
        let journeyman = open_as("one", &parts, gated()).await;
        let one = calibration(&journeyman, 60).await;
        assert_eq!((one.tasks, one.without, one.unjudged), (56, 55, 4));
        assert!(matches!(one.fit, ByOutcomes::Fitted(_)), "{one}");
    });
}

#[test]
fn a_verdict_that_is_missing_with_the_skill_alone_counts_as_not_done() {
    block_on(async {
        let store = learned_with("good", 20).await;
        let has_a_skill = |request: &JudgeRequest<'_>| !request.trajectory.exposures.is_empty();
        let mut parts = parts(&store, scorer(), "first");
        parts.judge = Some(judge(has_a_skill));
        let journeyman = open_as("fits", &parts, gated()).await;
        let with = calibration(&journeyman, 20).await;
        assert_eq!((with.tasks, with.unjudged), (20, 0));
        let fitted = fitted(with);
        let outcomes = fitted.outcomes.expect("fitted on them").fitted;
        assert_eq!((outcomes.harmed.of, outcomes.helped.count), (20, 0));

        // Without a verdict on the attempt without it there is nothing to compare.
        parts.judge = Some(judge(move |request| !has_a_skill(request)));
        let journeyman = open_as("without", &parts, gated()).await;
        let without = calibration(&journeyman, 20).await;
        assert_eq!((without.tasks, without.unjudged), (0, 20));
        assert_eq!(without.fit, ByOutcomes::NotYet { more: 7 });
    });
}

#[test]
fn a_scorer_that_fails_is_said_before_a_task_is_attempted() {
    block_on(async {
        let store = learned_with("good", 20).await;
        let agent = Arc::new(ScriptedExecutor::acting(|_, _| Play::Give(None)));
        let mut parts = parts_with(&store, &agent);
        let busy = Error::new(ErrorKind::Unavailable, "Scorer::score", "it is busy");
        parts.scorer = Some(Arc::new(ScriptedScorer::that(Play::Fail(busy))));
        let journeyman = open_as("fits", &parts, gated()).await;
        let error = journeyman.calibrate_by_outcomes(BOUND, 20).await;
        let error = error.expect_err("nothing is scored");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().contains("20 of 20 drawn tasks"), "{error}");
        assert_eq!(agent.calls(), 0);
    });
}

#[test]
fn what_a_search_counts_is_in_the_scores_and_in_the_calibration() {
    block_on(async {
        let store = learned_with("good", 20).await;
        let weight = FoundWeight::new(2.0, 0.0, 50.0);
        let mut recipe = gated();
        change_gate(&mut recipe, |gate| gate.found = Some(weight));
        let mut parts = parts(&store, scorer(), "first");
        parts.retriever = Some(Arc::new(ScriptedRetriever::new()));
        let journeyman = open_as("fits", &parts, recipe.clone()).await;
        let fitted = fitted(calibration(&journeyman, 20).await);
        assert_eq!(fitted.found, Some(weight));
        let report = journeyman.evaluate(numbered('w', 0..20)).await;
        let report = report.expect("evaluated");
        let bests = report
            .tasks
            .iter()
            .map(|task| task.selections[0].best().expect("scored").value);
        let mut bests: Vec<f64> = bests.collect();
        bests.sort_by(f64::total_cmp);
        let mut scores = fitted.scores.clone().expect("they are kept").values;
        scores.sort_by(f64::total_cmp);
        assert_eq!(scores, bests);
        recipe.calibrate(&fitted).expect("it is for this score");
    });
}

#[test]
fn where_nothing_can_be_scored_or_attempted_again_it_is_refused_with_what_to_do() {
    block_on(async {
        let mut unscored = components();
        unscored.scorer = None;
        let mut without_a_gate = gated();
        without_a_gate.select.selector = top(1);
        for (name, parts, recipe) in [
            ("unscored", unscored, gated()),
            ("gateless", components(), without_a_gate),
            ("own loop", own_loop(), gated()),
        ] {
            let journeyman = open_as(name, &parts, recipe).await;
            let error = journeyman.calibrate_by_outcomes(BOUND, 20).await;
            let error = error.expect_err("it cannot be fitted");
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
            assert!(error.hint_text().is_some(), "{error}");
        }
        let none = BOUND.with_most(0.0);
        let journeyman = open_as("bound", &components(), gated()).await;
        let error = journeyman.calibrate_by_outcomes(none, 20).await;
        let error = error.expect_err("it is no bound");
        assert_eq!(error.kind(), ErrorKind::Invalid);
    });
}
