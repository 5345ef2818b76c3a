//! Structural metrics, router accuracy and annotated attempts on the bundled model (SCRIBE, appendices B and E).

use std::{
    collections::{BTreeMap, BTreeSet},
    num::{NonZeroU32, NonZeroU64},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Result, Seed, TaskId,
    agent::MemoryStore,
    contract::SegmentPrompt,
    domain::{AssessedSubgoal, Assessment, Skill, Subgoal, Task, Trace},
    library::{KnownSubgoal, SkillLibrary},
    papers::scribe::{
        AssessBy, AssessPolicy, AssessedPair, ExecutedPlan, HighLevel, MidLevel, Plan,
        RouterAccuracy, StructureOptions, TrialOptions, Trials, VariantAgreement, annotations,
        candidate_plans,
    },
    recipe::{self, Recipe},
    run::Journeyman,
};
use journeyman_interchange::assessments::{self, Split};
use journeyman_tests::{
    papers::subgoals::{completes, rendered, tool},
    source::bundled_model,
};
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use quickstart::{Parts, spoken};

/// Small numbers, so that each test takes about a minute: the paper has 64 rollouts of a subgoal.
const ROLLOUTS: u32 = 4;
/// Tools with a hidden contract and without one. Each has a task before any has another.
const HIDDEN: usize = 4;
const PLAIN: usize = 1;
/// Three tasks of each tool.
const TASKS: usize = 3 * (HIDDEN + PLAIN);
/// Steps of an attempt that is learned from.
const STEPS: usize = 8;
/// Steps of an execution of a plan: too few to be refused, to make another call first, and to come back.
const FEW: usize = 2;
/// More tasks than a test has: attempts are cut into subgoals, which are not clustered.
const NEVER: NonZeroU64 = NonZeroU64::new(1_000).expect("not 0");

/// SCRIBE with a clustering after each so many tasks, and without anchors: no judge is measured here.
fn recipe(refresh: NonZeroU64) -> Recipe {
    let mut recipe = recipe::scribe();
    recipe.attempts.group = const { NonZeroU32::new(2).expect("not 0") };
    let mut assess = AssessPolicy::default();
    assess.first = refresh;
    assess.refresh = refresh;
    assess.anchors = None;
    recipe.assess = Some(assess.into());
    recipe
}

/// A task as the world tells it.
fn told(one: &StreamTask, seed: u64) -> Result<Task> {
    spoken::task(one.task()?, Seed(seed))
}

struct Learned {
    stream: Vec<StreamTask>,
    journeyman: Journeyman,
    /// A session over the same library in which attempts have few steps.
    few: Journeyman,
    /// The first session over an empty library.
    empty: Journeyman,
    library: SkillLibrary,
}

fn learn(seed: u64, tasks: usize, refresh: NonZeroU64) -> Learned {
    let parts = Parts::deterministic(&bundled_model(), STEPS).expect("the bundled model");
    let few = Parts::deterministic(&bundled_model(), FEW).expect("the bundled model");
    let universe = Universe::make(UniverseSpec::of(HIDDEN, PLAIN), seed).expect("a universe");
    let stream = universe.stream(tasks);
    let tasks: Result<Vec<Task>> = stream.iter().map(|one| told(one, seed)).collect();
    let tasks = tasks.expect("they are tasks");
    block_on(async {
        let open = async |parts: &Parts, store: &Arc<MemoryStore>| {
            let recipe = recipe(refresh);
            let opened = parts.open(recipe, "structure", Seed(seed), store.clone(), None);
            opened.await.expect("it opens")
        };
        let (store, none) = (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
        let journeyman = open(&parts, &store).await;
        journeyman.learn(tasks).await.expect("it learns");
        let (few, empty) = (open(&few, &store).await, open(&parts, &none).await);
        let library = journeyman.library().await.expect("a library");
        Learned {
            stream,
            journeyman,
            few,
            empty,
            library,
        }
    })
}

fn traces(library: &SkillLibrary) -> BTreeMap<&str, &Trace> {
    let traces = library.traces();
    let traces = traces.map(|trace| (trace.trajectory.attempt.as_str(), trace));
    traces.collect()
}

async fn trials(journeyman: &Journeyman, of: &Trace, subgoal: &Subgoal) -> Option<Trials> {
    let options = TrialOptions::new(NonZeroU32::new(ROLLOUTS)?);
    let rollouts = journeyman.subgoal_rollouts(of, subgoal, &options).await;
    let rollouts = rollouts.expect("the world repeats itself");
    assert_eq!(rollouts.replayed, subgoal.first);
    // Every replayed step has the answer that it had.
    for rollout in rollouts.rollouts.iter().flatten() {
        let replayed = rollout.steps.iter().take(subgoal.first);
        for (step, was) in replayed.zip(&of.trajectory.steps) {
            assert_eq!((&step.action, &step.result), (&was.action, &was.result));
        }
    }
    rollouts.trials(|rollout, own| completes(of, subgoal, rollout, own))
}

/// The last subgoals of successful attempts, one for each tool: of the latest attempt, which had a skill.
fn last_subgoals(library: &SkillLibrary) -> Vec<(&Trace, &Subgoal)> {
    let traces = traces(library);
    let mut of_tool: BTreeMap<&str, (&Trace, &Subgoal)> = BTreeMap::new();
    for known in library.subgoals() {
        let Some(trace) = traces.get(known.at.attempt.as_str()) else {
            continue;
        };
        let subgoal = &known.assessed.subgoal;
        if trace.is_success() && subgoal.last + 1 == trace.trajectory.steps.len() {
            of_tool.insert(
                tool(&trace.trajectory, subgoal.last).unwrap_or_default(),
                (trace, subgoal),
            );
        }
    }
    of_tool.into_values().collect()
}

#[test]
fn subgoals_are_completed_more_often_with_the_learned_library() {
    let learned = learn(21, TASKS, NEVER);
    let subgoals = last_subgoals(&learned.library);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for (trace, subgoal) in subgoals.iter().take(12) {
        // From the beginning of the attempt, so that all of the work is the agent's.
        let whole = Subgoal::clone(subgoal).edited(|it| it.first = 0);
        block_on(async {
            with.extend(trials(&learned.journeyman, trace, &whole).await);
            without.extend(trials(&learned.empty, trace, &whole).await);
        });
    }
    let mid = |trials: &[Trials]| MidLevel::of(trials).expect("there are subgoals");
    let (with, without) = (mid(&with), mid(&without));
    println!("with the library {with:?}, without {without:?}");
    assert_eq!(with.subgoals, HIDDEN + PLAIN, "one for each tool");
    assert!(with.success > without.success + 0.1);
    // Behind the steps that came before it, the last call is easier.
    let mut behind = Vec::new();
    for (trace, subgoal) in subgoals.iter().take(12) {
        block_on(async { behind.extend(trials(&learned.empty, trace, subgoal).await) });
    }
    let behind = mid(&behind);
    println!("behind the steps before {behind:?}");
    assert!(behind.success > without.success);
}

#[test]
fn plans_succeed_where_their_steps_suffice_and_longer_ones_do_not() {
    let seed = 21;
    let learned = learn(seed, TASKS, NEVER);
    let mut options = StructureOptions::default();
    options.trials = const { NonZeroU32::new(2).expect("not 0") };
    let library = &learned.library;
    let traces = traces(library);
    let (mut tasks, mut short, mut long) = (Vec::new(), Vec::new(), Vec::new());
    // The last task of each tool, with plans of the attempts at all of its tasks.
    let mut of_tool: BTreeMap<String, Vec<&StreamTask>> = BTreeMap::new();
    for one in &learned.stream {
        let tool = one.world.goal.target.to_string();
        of_tool.entry(tool).or_default().push(one);
    }
    for of_tool in of_tool.values() {
        let alike: Vec<TaskId> = of_tool.iter().map(|one| one.id.as_str().into()).collect();
        let task = told(of_tool.last().expect("a task"), seed).expect("a task");
        let plans = candidate_plans(library, &alike, options.plans);
        let plans: Vec<(Plan, Skill)> = plans
            .into_iter()
            .filter_map(|plan| Some((plan.clone(), rendered(&plan, &traces)?)))
            .collect();
        if plans.len() < 2 {
            continue;
        }
        let skills: Vec<Skill> = plans.iter().map(|(_, skill)| skill.clone()).collect();
        let trials = TrialOptions::new(options.trials);
        let runs = learned.few.plan_trials(task, &skills, &trials);
        let runs = block_on(runs).expect("they are executed");
        let executed: Vec<ExecutedPlan> = runs.iter().filter_map(|run| run.executed()).collect();
        assert_eq!(executed.len(), plans.len());
        for ((plan, _), run) in plans.iter().zip(&executed) {
            let steps = traces[plan.attempt.as_str()].trajectory.steps.len();
            let rates = if steps <= FEW { &mut short } else { &mut long };
            rates.push(run.trials.rate());
        }
        tasks.push(executed);
    }
    let high = HighLevel::of(tasks.iter().map(Vec::as_slice), &options).expect("sound plans");
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    println!(
        "{high:?}; {} plans of at most {FEW} steps: {}, {} of more: {}",
        short.len(),
        mean(&short),
        long.len(),
        mean(&long)
    );
    assert!(high.tasks >= 3, "{high:?}");
    assert!(
        high.separation
            .is_some_and(|separation| (0.5..=1.0).contains(&separation))
    );
    assert!(high.selection.is_some());
    assert!(!short.is_empty() && !long.is_empty());
    assert!(mean(&short) > mean(&long) + 0.5);
}

/// The assessments as they were made, before their subgoals were clustered.
fn as_assessed(library: &SkillLibrary) -> Vec<Assessment> {
    let known: Vec<&KnownSubgoal> = library.subgoals().collect();
    let attempts = known.chunk_by(|one, next| one.at.attempt == next.at.attempt);
    let assessment = |subgoals: &[&KnownSubgoal]| {
        Assessment::new(subgoals[0].at.attempt.clone(), subgoals[0].task.clone())
            .with_success(subgoals[0].success)
            .with_subgoals(subgoals.iter().map(|one| one.assessed.clone()).collect())
    };
    attempts.map(assessment).collect()
}

/// The scores that two wordings gave to the same spans.
fn scores_of_both(pairs: &[AssessedPair<'_>]) -> Vec<(u8, u8)> {
    let mut scores = Vec::new();
    for pair in pairs {
        for one in &pair.predicted.subgoals {
            let same = |other: &&AssessedSubgoal| {
                (one.subgoal.first, one.subgoal.last) == (other.subgoal.first, other.subgoal.last)
            };
            let other = pair.annotated.subgoals.iter().find(same);
            let both = one.score.zip(other.and_then(|other| other.score));
            scores.extend(both.map(|(one, other)| (one.get(), other.get())));
        }
    }
    scores
}

/// The attempts that were learned from, cut and scored once more by each wording of the paper for attempts with tools (SCRIBE
/// A.1): their agreement with the main one.
fn wordings_agree(learned: &Learned) {
    let traces: Vec<Trace> = learned.library.traces().cloned().collect();
    let assessed = |prompt| {
        let mut policy = AssessPolicy::default();
        policy.by = AssessBy::Subgoals(prompt);
        let assessed = block_on(learned.journeyman.assess(&traces, &policy));
        assessed.expect("they are assessed").assessments
    };
    let main = assessed(SegmentPrompt::Main);
    for wording in [SegmentPrompt::Intent, SegmentPrompt::FailureAware] {
        let other = assessed(wording);
        let pairs = main.iter().zip(&other);
        let pairs: Vec<AssessedPair<'_>> = pairs
            .filter_map(|(predicted, annotated)| {
                Some(AssessedPair::new(predicted.as_ref()?, annotated.as_ref()?))
            })
            .collect();
        let agreement = VariantAgreement::of(&pairs).expect("pairs");
        println!("{wording:?} beside the main wording: {agreement:?}");
        assert!(agreement.attempts + 1 >= traces.len(), "{agreement:?}");
        assert!(agreement.spans.rate().is_some_and(|rate| rate >= 0.9));
        assert!(agreement.scores.rate().is_some_and(|rate| rate >= 0.9));
        let (ones, others): (BTreeSet<u8>, BTreeSet<u8>) =
            scores_of_both(&pairs).into_iter().unzip();
        match agreement.rank {
            Some(rank) => assert!(rank >= 0.8, "{agreement:?}"),
            // Where a wording gave a single score there is nothing to rank.
            None => assert!(ones.len() == 1 || others.len() == 1, "{ones:?} {others:?}"),
        }
    }
}

#[test]
fn routers_and_wordings_are_compared_and_annotations_are_exported() {
    let refresh = const { NonZeroU64::new(5).expect("not 0") };
    let learned = learn(21, 10, refresh);
    let library = &learned.library;
    let (predicted, annotated) = (as_assessed(library), annotations(library));
    // Attempts that were routed before their subgoals belonged to a cluster.
    let routed = predicted.iter().zip(&annotated);
    let pairs: Vec<AssessedPair<'_>> = routed
        .filter(|(one, _)| one.subgoals.iter().any(|one| one.route.is_some()))
        .map(|(predicted, annotated)| AssessedPair::new(predicted, annotated))
        .collect();
    let accuracy = RouterAccuracy::of(&pairs).expect("pairs");
    println!("{accuracy:?}");
    assert!(accuracy.attempts >= 4);
    // Both have the cut that the library got, so spans and skills are equal by construction: a sign that pairs are matched.
    assert_eq!(
        (accuracy.spans.rate(), accuracy.skills.rate()),
        (Some(1.0), Some(1.0))
    );
    assert!(accuracy.prototypes.rate().is_some_and(|rate| rate > 0.7));
    wordings_agree(&learned);

    let exported = assessments::of_library(library, &Split::new(Seed(7))).expect("a split");
    assert!(exported.attempts.len() >= 10 && exported.refused.is_empty());
    let lines = assessments::write(&exported.attempts).expect("they are valid");
    assert_eq!(
        assessments::read(&lines).expect("valid lines"),
        exported.attempts
    );
}
