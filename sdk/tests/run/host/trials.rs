//! Rollouts of subgoals and executions of plans (SCRIBE, appendix E; row C8).

use std::sync::Mutex;

use journeyman::{
    ModelId, Result,
    contract::{Environment, EnvironmentCapabilities, ScoreRequest, Scorer, TokenScores},
    domain::{Subgoal, Trace},
    papers::scribe::{HighLevel, MidLevel, StructureOptions, TrialOptions},
};

use super::*;

/// What an attempt was asked with.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    id: String,
    seed: u64,
    temperature: f32,
    skills: Vec<String>,
    prefix: usize,
    instruction: String,
}

type Log = Arc<Mutex<Vec<Asked>>>;

/// Says what is due where its seed is even, and gives up otherwise.
fn recording(log: &Log) -> ScriptedExecutor {
    let log = Arc::clone(log);
    ScriptedExecutor::acting(move |attempt, steps| {
        if steps.len() == attempt.prefix.len() {
            log.lock().unwrap().push(Asked {
                id: attempt.id.to_string(),
                seed: attempt.seed.0,
                temperature: attempt.temperature,
                skills: (attempt.injection.skills.iter())
                    .map(|skill| skill.skill.id.to_string())
                    .collect(),
                prefix: attempt.prefix.len(),
                instruction: attempt.task.instruction.clone(),
            });
        }
        let words: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        let word = words.get(steps.len()).cloned();
        Play::Give(
            word.filter(|_| attempt.seed.0.is_multiple_of(2))
                .map(Action::Message),
        )
    })
}

/// A world that says which seed it has.
fn seeded() -> ScriptedEnvironment {
    ScriptedEnvironment::by(|task, seed, actions| {
        let words: Vec<String> = serde_json::from_value(task.payload.clone()).unwrap_or_default();
        let due = words.get(actions.len() - 1);
        let right = matches!((actions.last(), due), (Some(Action::Message(word)), Some(due)) if word == due);
        let done = right && actions.len() == words.len();
        let seen = sample::observation(&format!("world {}", seed.0));
        let mut transition = journeyman::domain::Transition::next(seen);
        transition.is_error = !right;
        transition.outcome = done.then(|| sample::outcome(true));
        Play::Give(transition)
    })
}

fn trial_parts(log: &Log) -> Components {
    let mut parts = components();
    parts.executor = Some(Arc::new(recording(log)));
    parts.environment = Some(Arc::new(seeded()));
    parts
}

fn selecting() -> Recipe {
    let mut recipe = recipe();
    recipe.select.selector = top(1);
    recipe
}

fn attempt() -> Trace {
    let task = sample::task("greet", &["good", "day", "all"]);
    let mut attempt = sample::trace("desk/learn-0/4/1", &task, &["good", "day", "all"], true);
    attempt.world_seed = Seed(99);
    attempt
}

fn subgoal(first: usize) -> Subgoal {
    sample::subgoal("say what is due", first, first)
}

fn of(count: u32) -> TrialOptions {
    TrialOptions::new(n32(count))
}

/// A library with one skill.
async fn session(parts: Components) -> Journeyman {
    let options = Options::new("test", Seed(7));
    let journeyman = Journeyman::open(parts, selecting(), options)
        .await
        .expect("it opens");
    let skill = sample::skill("greet");
    journeyman
        .add(vec![skill], "a start")
        .await
        .expect("it is added");
    journeyman
}

#[test]
fn rollouts_replay_what_came_before_and_differ_in_the_agents_seed_alone() {
    let log = Log::default();
    let parts = trial_parts(&log);
    let journal = parts.journal.clone().unwrap();
    block_on(async {
        let journeyman = session(parts).await;
        let (runs, before) = (
            journal.runs().await.unwrap(),
            journeyman.library().await.unwrap(),
        );
        let rollouts = journeyman
            .subgoal_rollouts(&attempt(), &subgoal(1), &of(40))
            .await
            .unwrap();
        let asked = std::mem::take(&mut *log.lock().unwrap());
        assert_eq!(
            (rollouts.replayed, rollouts.rollouts.len(), asked.len()),
            (1, 40, 40)
        );
        let mut seeds: Vec<u64> = asked.iter().map(|one| one.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 40);
        for one in &asked {
            assert_eq!(
                (one.prefix, one.skills.as_slice()),
                (1, &["greet".to_owned()][..])
            );
            assert_eq!(one.temperature, selecting().attempts.temperature);
            assert!(
                one.id.starts_with("test/trials-0/desk/learn-0/4/1#1/"),
                "{}",
                one.id
            );
        }
        for rollout in &rollouts.rollouts {
            let rollout = rollout.as_ref().unwrap();
            assert_eq!(rollout.steps[0].action, Action::Message("good".to_owned()));
            assert!(
                rollout
                    .steps
                    .iter()
                    .all(|step| step.result.text == "world 99")
            );
        }
        // What the agent did itself decides.
        let completed = |rollout: &Trajectory, own: usize| {
            Some(
                rollout
                    .steps
                    .get(own)
                    .is_some_and(|step| !step.result.is_error),
            )
        };
        let trials = rollouts.trials(completed).unwrap();
        let even = asked
            .iter()
            .filter(|one| one.seed.is_multiple_of(2))
            .count();
        assert_eq!(trials.successes() as usize, even);
        let mid = MidLevel::of(&[trials]).unwrap();
        let p = even as f64 / 40.0;
        assert_eq!((mid.success, mid.uncertainty), (p, p * (1.0 - p)));
        assert_eq!(rollouts.trials(|_, _| None), None);

        // A later checkpoint draws the same seeds; another subgoal others.
        journeyman
            .subgoal_rollouts(&attempt(), &subgoal(1), &of(40))
            .await
            .unwrap();
        let again: Vec<u64> = std::mem::take(&mut *log.lock().unwrap())
            .iter()
            .map(|one| one.seed)
            .collect();
        assert_eq!(again, asked.iter().map(|one| one.seed).collect::<Vec<_>>());
        journeyman
            .subgoal_rollouts(&attempt(), &subgoal(0), &of(40))
            .await
            .unwrap();
        let other: Vec<u64> = log.lock().unwrap().iter().map(|one| one.seed).collect();
        assert_ne!(again, other);

        assert_eq!(bytes(&journeyman.library().await.unwrap()), bytes(&before));
        assert_eq!(journal.runs().await.unwrap(), runs, "no run is begun");
    });
}

#[test]
fn the_temperature_is_the_callers_or_the_recipes() {
    let log = Log::default();
    block_on(async {
        let journeyman = session(trial_parts(&log)).await;
        let check = async |temperature: Option<f32>, expect: f32| {
            let mut options = of(1);
            options.temperature = temperature;
            journeyman
                .subgoal_rollouts(&attempt(), &subgoal(0), &options)
                .await
                .unwrap();
            assert_eq!(log.lock().unwrap().last().unwrap().temperature, expect);
        };
        check(Some(0.0), 0.0).await;
        check(Some(0.4), 0.4).await;
        check(None, selecting().attempts.temperature).await;
        for temperature in [f32::NAN, -1.0] {
            let mut options = of(1);
            options.temperature = Some(temperature);
            let error = journeyman
                .subgoal_rollouts(&attempt(), &subgoal(0), &options)
                .await
                .unwrap_err();
            assert_eq!(error.message(), "the temperature is not a number from 0");
            let error = journeyman
                .plan_trials(attempt().task, &[], &options)
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
        }
    });
}

/// A world that does not give the same answers twice.
#[derive(Debug)]
struct Unsteady(ScriptedEnvironment);

#[async_trait]
impl Environment for Unsteady {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::resettable()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        self.0.reset(task, seed).await
    }
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let log = Log::default();
    block_on(async {
        let mut parts = trial_parts(&log);
        parts.environment = Some(Arc::new(Unsteady(seeded())));
        let unsteady = session(parts).await;
        let error = unsteady
            .subgoal_rollouts(&attempt(), &subgoal(1), &of(1))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(
            error
                .hint_text()
                .unwrap()
                .contains("EnvironmentCapabilities")
                || error.hint_text().unwrap().contains("capabilities")
        );
        // The first subgoal needs no replay.
        let first = unsteady
            .subgoal_rollouts(&attempt(), &subgoal(0), &of(1))
            .await
            .unwrap();
        assert_eq!((first.replayed, first.rollouts.len()), (0, 1));

        let journeyman = session(trial_parts(&log)).await;
        for (first, last) in [(3, 3), (2, 1), (1, 3)] {
            let subgoal = sample::subgoal("none", first, last);
            let error = journeyman
                .subgoal_rollouts(&attempt(), &subgoal, &of(1))
                .await
                .unwrap_err();
            assert_eq!(error.fact("steps"), Some("3"));
        }
        let mut redacted = attempt();
        redacted.task.instruction = "the key is [redacted: access key]".to_owned();
        let error = journeyman
            .subgoal_rollouts(&redacted, &subgoal(0), &of(1))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);

        let alone = session(own_loop()).await;
        let error = alone
            .subgoal_rollouts(&attempt(), &subgoal(0), &of(1))
            .await
            .unwrap_err();
        assert_eq!(error.message(), "the host gave no agent or no world");
        let error = alone
            .plan_trials(attempt().task, &[], &of(1))
            .await
            .unwrap_err();
        assert_eq!(error.message(), "the host gave no judge");
    });
}

#[test]
fn a_part_that_fails_costs_its_rollout_alone() {
    let log = Log::default();
    let mut parts = trial_parts(&log);
    parts.executor = Some(Arc::new(ScriptedExecutor::by(|attempt, call| {
        match call % 2 {
            0 => Play::Fail(Error::new(
                ErrorKind::Unavailable,
                "Executor::execute",
                "not now",
            )),
            _ => Play::Give(sample::trajectory(
                attempt.id.as_str(),
                attempt.task,
                &["good"],
                true,
            )),
        }
    })));
    block_on(async {
        let journeyman = session(parts).await;
        let rollouts = journeyman
            .subgoal_rollouts(&attempt(), &subgoal(0), &of(6))
            .await
            .unwrap();
        let failed = rollouts
            .rollouts
            .iter()
            .filter_map(|one| one.as_ref().err());
        assert_eq!(
            failed.map(Error::message).collect::<Vec<_>>(),
            ["not now"; 3]
        );
        let trials = rollouts.trials(|_, _| Some(true)).unwrap();
        assert_eq!((trials.successes(), trials.trials().get()), (3, 3));

        let plans = [sample::skill("plan")];
        let runs = journeyman
            .plan_trials(attempt().task, &plans, &of(4))
            .await
            .unwrap();
        assert_eq!(
            (runs[0].faults.len(), runs[0].trials.unwrap().trials().get()),
            (2, 2)
        );
    });
}

/// Scores with -1 for each word, but -0.1 for those of a text with `good`; keeps the limits that it was asked with.
#[derive(Debug)]
struct Limits(ModelId, Mutex<Vec<usize>>);

#[async_trait]
impl Scorer for Limits {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        self.1.lock().unwrap().push(request.max_continuation_tokens);
        assert!(request.prompt.text().contains("say good and then day"));
        let scores = request.continuations.iter().map(|text| {
            let ids: Vec<i32> = text.split_whitespace().map(|_| 1).collect();
            let each = if text.contains("good") { -0.1 } else { -1.0 };
            let logprobs = vec![each; ids.len()];
            TokenScores::new(ids, logprobs)
        });
        Ok(scores.collect())
    }

    fn is_trained_to_score(&self) -> bool {
        true
    }
}

/// Says what the plan in its prompt says; without one it gives up.
fn planner(log: &Log) -> ScriptedExecutor {
    let kept = Arc::clone(log);
    ScriptedExecutor::acting(move |attempt, steps| {
        let skills = &attempt.injection.skills;
        if steps.is_empty() {
            kept.lock().unwrap().push(Asked {
                id: attempt.id.to_string(),
                seed: attempt.seed.0,
                temperature: attempt.temperature,
                skills: skills
                    .iter()
                    .map(|skill| skill.skill.id.to_string())
                    .collect(),
                prefix: 0,
                instruction: attempt.task.instruction.clone(),
            });
        }
        let words = skills
            .first()
            .and_then(|skill| skill.text.split_once("\nplan: "));
        let words: Vec<&str> =
            words.map_or(Vec::new(), |(_, words)| words.split_whitespace().collect());
        // Every other execution of a plan with `perhaps` ends before it begins.
        let unsteady = words.contains(&"perhaps") && attempt.seed.0.is_multiple_of(2);
        let word = words
            .get(steps.len())
            .filter(|word| !unsteady && **word != "perhaps");
        Play::Give(word.map(|word| Action::Message((*word).to_owned())))
    })
}

fn plan(words: &str) -> Skill {
    sample::skill("a-plan").with_body(format!("plan: {words}"))
}

#[test]
fn plans_are_scored_whole_executed_alone_and_judged() {
    let log = Log::default();
    let scorer = Arc::new(Limits(ModelId::new("scripted"), Mutex::default()));
    let mut parts = trial_parts(&log);
    parts.executor = Some(Arc::new(planner(&log)));
    parts.scorer = Some(scorer.clone());
    let task = sample::task("greet", &["good", "day"]);
    let plans = [
        plan("good day"),
        plan("day good"),
        plan("good day perhaps"),
        plan("day"),
    ];
    block_on(async {
        let journeyman = session(parts).await;
        let runs = journeyman
            .plan_trials(task.clone(), &plans, &of(5))
            .await
            .unwrap();
        assert_eq!(*scorer.1.lock().unwrap(), [usize::MAX], "no plan is cut");
        let asked = std::mem::take(&mut *log.lock().unwrap());
        assert_eq!(asked.len(), 20);
        assert!(asked.iter().all(|one| one.skills == ["a-plan"]));
        let rates: Vec<f64> = runs.iter().map(|run| run.trials.unwrap().rate()).collect();
        assert_eq!((rates[0], rates[1], rates[3]), (1.0, 0.0, 0.0));
        let odd = asked[10..15]
            .iter()
            .filter(|one| !one.seed.is_multiple_of(2))
            .count();
        assert_eq!(rates[2], odd as f64 / 5.0);
        let preferences: Vec<f64> = runs.iter().map(|run| run.preference.unwrap()).collect();
        for (found, expect) in preferences.iter().zip([-0.1, -0.1, -0.1, -1.0]) {
            assert!((found - expect).abs() < 1e-12, "{preferences:?}");
        }
        // One plan that works is preferred to one of two that do not: the tie is no preference.
        let executed = [
            runs[0].executed().unwrap(),
            runs[1].executed().unwrap(),
            runs[3].executed().unwrap(),
        ];
        let high = HighLevel::of([&executed[..]], &StructureOptions::default()).unwrap();
        assert_eq!((high.selection, high.separation), (Some(0.5), Some(1.0)));

        let mut options = of(1);
        options.with_selected = true;
        journeyman
            .plan_trials(task.clone(), &plans[..1], &options)
            .await
            .unwrap();
        assert_eq!(
            log.lock().unwrap().last().unwrap().skills,
            ["a-plan", "greet"]
        );
        assert!(
            journeyman
                .plan_trials(task, &[], &of(5))
                .await
                .unwrap()
                .is_empty()
        );
        let library = journeyman.library().await.unwrap();
        assert!(library.get(&"a-plan".into()).is_none());
    });
}

#[test]
fn without_a_scorer_there_is_no_preference_and_with_a_faulty_one_nothing_is_executed() {
    let task = || sample::task("greet", &["good", "day"]);
    let log = Log::default();
    let with = |scorer: Option<Arc<dyn Scorer>>| {
        let mut parts = trial_parts(&log);
        parts.executor = Some(Arc::new(planner(&log)));
        parts.scorer = scorer;
        parts
    };
    block_on(async {
        let none = session(with(None)).await;
        let runs = none
            .plan_trials(task(), &[plan("good day")], &of(2))
            .await
            .unwrap();
        assert_eq!((runs[0].preference, runs[0].executed()), (None, None));
        assert_eq!(runs[0].trials.unwrap().rate(), 1.0);
        log.lock().unwrap().clear();
        let fault = Error::unsupported("Scorer::score", "this server cannot");
        let faulty: Arc<dyn Scorer> = Arc::new(ScriptedScorer::that(Play::Fail(fault)));
        let journeyman = session(with(Some(faulty))).await;
        let error = journeyman
            .plan_trials(task(), &[plan("good day")], &of(2))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(log.lock().unwrap().is_empty());
    });
}

#[test]
fn a_judge_that_does_not_decide_is_a_fault_of_the_execution() {
    let log = Log::default();
    let mut parts = trial_parts(&log);
    parts.judge = Some(Arc::new(ScriptedJudge::that(Play::Give(
        Verdict::undecided(),
    ))));
    block_on(async {
        let journeyman = session(parts).await;
        let runs = journeyman
            .plan_trials(attempt().task, &[plan("good")], &of(3))
            .await
            .unwrap();
        assert_eq!((runs[0].trials, runs[0].faults.len()), (None, 3));
        assert_eq!(runs[0].faults[0].message(), "the judge did not decide");
    });
}

#[test]
fn the_agent_has_the_original_of_a_task_with_a_secret_and_the_judge_has_not() {
    const SECRET: &str = "AKIAQQQQRRRRSSSSTTTT";
    let log = Log::default();
    let mut parts = trial_parts(&log);
    parts.executor = Some(Arc::new(planner(&log)));
    parts.scorer = None;
    let judged = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&judged);
    parts.judge = Some(Arc::new(ScriptedJudge::by(move |request, _| {
        seen.lock().unwrap().push(request.task.instruction.clone());
        Play::Give(Verdict::binary(true))
    })));
    block_on(async {
        let journeyman = session(parts).await;
        let mut task = sample::task("greet", &["good"]);
        task.instruction = format!("use {SECRET}");
        journeyman
            .plan_trials(task, &[plan("good")], &of(1))
            .await
            .unwrap();
        assert!(log.lock().unwrap()[0].instruction.contains(SECRET));
        let judged = judged.lock().unwrap();
        assert!(
            judged[0].contains("[redacted: ") && !judged[0].contains(SECRET),
            "{judged:?}"
        );
    });
}
