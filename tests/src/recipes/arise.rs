//! ARISE: choice by the policy against other choices, the gate's sweep, the reward's two forms (4.3, E.1, E.4).

use std::{
    num::{NonZeroU64, NonZeroUsize},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    contract::SkillStore,
    domain::{Committed, ScoreKind},
    library::SkillLibrary,
    papers::arise::GainsPolicy,
    policy::{Policy, PolicyOptions},
    recipe::{self, Recipe},
    run::report::RunReport,
    stations::{
        reward::LevelReward,
        select::{Candidates, First, GatePolicy, Nothing, Random},
    },
};
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use quickstart::{Parts, Summaries, spoken};
use serde::{Deserialize, Serialize};

use super::key;
use crate::{
    figures::{Bound, Figures, Outcome, attempted, stats},
    main_job::library,
};

const WORLDS: u64 = 5;
pub(super) const STREAM: usize = 40;
const HELD_OUT: usize = 60;
/// Tasks of warm-up: a quarter of the stream. The paper: 500 of 2,000 steps.
pub(super) const WARM_UP: u64 = 10;
/// Steps, and so tasks, between two measurements of the information gain. The paper's number of steps.
const GAINS: NonZeroU64 = NonZeroU64::new(100).expect("not 0");
/// The paper's gate and its sweep (Table 7).
const GATES: [f64; 5] = [0.15, 0.25, 0.35, 0.45, 0.55];
pub(super) const RESAMPLES: usize = 4000;

/// What came of a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Learned {
    committed: Vec<Committed>,
    drafts: usize,
    /// Of these, traces that were abstracted since the model wrote nothing that could be read.
    fallbacks: usize,
    /// The utilities of the skills that some attempt was given.
    utilities: Vec<f64>,
    /// The exact information gain of each skill on offer at the end, in nats (Eq. 14).
    gains: Vec<f64>,
}

/// What came of the held-out tasks of all worlds, in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Arm {
    pub(super) first: Vec<f64>,
    pub(super) tools: Vec<String>,
    pub(super) tokens: Vec<f64>,
    pub(super) used: Vec<f64>,
}

/// A world of one seed.
pub(super) struct Place {
    pub(super) seed: Seed,
    pub(super) stream: Vec<StreamTask>,
    pub(super) held_out: Vec<StreamTask>,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed.derive("arise", 0);
    let places: Vec<Place> = (0..WORLDS)
        .map(|world| place(seed.derive("world", world)))
        .collect::<Result<_>>()?;
    let learned = libraries(figures, parts, &places, "hierarchical")?;
    let binary = libraries(figures, parts, &places, "binary")?;
    let sum = |count: fn(&Learned) -> usize| learned.iter().map(count).sum::<usize>() as f64;
    let rate = sum(|one| one.fallbacks) / sum(|one| one.drafts);
    figures.record("arise.drafts", sum(|one| one.drafts), Bound::AtLeast(1.0));
    figures.record(
        "arise.drafts that are abstracted traces",
        rate,
        Bound::Below(0.15),
    );
    let arm = |figures: &mut Figures<'_>, name: &str, learned: &[Learned], recipe: Recipe| {
        arm(figures, parts, (&places, learned), name, recipe)
    };
    let faithful = || with(gate(ScoreKind::Sum, 0.35));
    let policy = arm(figures, "policy", &learned, faithful())?;
    let none = arm(figures, "none", &learned, with(Nothing))?;
    let random = arm(figures, "random", &learned, with(Random))?;
    let bm25 = arm(figures, "bm25 first", &learned, first())?;
    arm(figures, "policy, binary reward", &binary, faithful())?;
    let ungated = with(gate(ScoreKind::Sum, 0.0));
    arm(figures, "policy, no gate", &learned, ungated)?;
    for (name, other, bound) in [
        ("none", &none, Bound::Above(0.0)),
        ("random", &random, Bound::Above(0.0)),
        ("bm25 first", &bm25, Bound::Above(0.0)),
    ] {
        let seed = seed.derive("tools", 0);
        let gain = stats::clustered(&other.first, &policy.first, &policy.tools, seed, RESAMPLES)?;
        let name = format!("arise.policy over {name}");
        figures.interval(&name, &gain, bound, Bound::None);
    }
    let overhead = stats::mean(&policy.tokens) / stats::mean(&none.tokens) - 1.0;
    figures.record("arise.policy.token overhead", overhead, Bound::None);
    // The paper's reference code compares means.
    let falling = (Bound::AtMost(0.0), Bound::Above(0.0));
    for (score, bounds) in [
        (ScoreKind::Mean, falling),
        (ScoreKind::Sum, (Bound::None, Bound::None)),
    ] {
        let mut used = Vec::new();
        for threshold in GATES {
            let name = format!("{score:?} gate {threshold}").to_lowercase();
            let one = arm(figures, &name, &learned, with(gate(score, threshold)))?;
            used.push(stats::mean(&one.used));
        }
        sweep(figures, score, &used, bounds);
    }
    Ok(())
}

/// What each world's stream came to under a reward.
fn libraries(
    figures: &mut Figures<'_>,
    parts: &Parts,
    places: &[Place],
    reward: &str,
) -> Result<Vec<Learned>, Box<dyn std::error::Error + Send + Sync>> {
    let mut all = Vec::new();
    for (world, place) in places.iter().enumerate() {
        let key = key(parts, &format!("arise, {reward} reward, world {world}"));
        let binary = reward == "binary";
        let learned = figures.once(&key, || Ok(block_on(learn(parts, place, binary))?))?;
        all.push(learned);
    }
    let mut record = |what: &str, value| {
        figures.record(&format!("arise.{reward} reward.{what}"), value, Bound::None);
    };
    let of = |values: fn(&Learned) -> &[f64]| -> Vec<f64> {
        let values = all.iter().flat_map(values);
        values.copied().collect()
    };
    let utilities = of(|one| &one.utilities);
    record("skills used", utilities.len() as f64);
    record("mean utility of these", stats::mean(&utilities));
    record("mean utility of these, sd", stats::sample_sd(&utilities));
    let gains = of(|one| &one.gains);
    let above: Vec<bool> = gains.iter().map(|gain| *gain > 0.0).collect();
    record("mean information gain, nats", stats::mean(&gains));
    record("share of gains above 0", stats::mean(&stats::flags(&above)));
    Ok(all)
}

/// The held-out tasks of all worlds with their frozen libraries and a way to choose.
fn arm(
    figures: &mut Figures<'_>,
    parts: &Parts,
    (places, learned): (&[Place], &[Learned]),
    name: &str,
    recipe: Recipe,
) -> Result<Arm, Box<dyn std::error::Error + Send + Sync>> {
    let mut arm = Arm::default();
    for (world, (place, learned)) in places.iter().zip(learned).enumerate() {
        let key = key(parts, &format!("arise, {name}, world {world}"));
        let one: Arm = figures.once(&key, || {
            Ok(block_on(evaluate(parts, place, learned, recipe.clone()))?)
        })?;
        arm.add(one, world);
    }
    for (what, values) in [
        ("first attempt", &arm.first),
        ("tokens", &arm.tokens),
        ("skill use", &arm.used),
    ] {
        let name = format!("arise.{name}.{what}");
        figures.record(&name, stats::mean(values), Bound::None);
    }
    Ok(arm)
}

/// Whether skill use falls along the gate (Table 7).
fn sweep(figures: &mut Figures<'_>, score: ScoreKind, used: &[f64], bounds: (Bound, Bound)) {
    let rises = used.windows(2).map(|pair| match pair {
        [before, after] => after - before,
        _ => 0.0,
    });
    let rise = rises.fold(f64::NEG_INFINITY, f64::max);
    let fall = used.first().copied().unwrap_or_default() - used.last().copied().unwrap_or(1.0);
    let name = format!("arise.{score:?} gate").to_lowercase();
    figures.record(
        &format!("{name}.greatest rise of skill use"),
        rise,
        bounds.0,
    );
    figures.record(&format!("{name}.fall of skill use"), fall, bounds.1);
}

fn gate(score: ScoreKind, relative: f64) -> GatePolicy {
    let mut gate = GatePolicy::paper();
    gate.score = score;
    gate.relative = Some(relative);
    gate
}

/// The paper's recipe with steps of one task: a stream has fewer tasks than a step of the paper.
pub(crate) fn task_by_task() -> Recipe {
    let mut recipe = recipe::arise();
    recipe.batch = NonZeroU64::MIN;
    recipe.maintenance.every(GainsPolicy::NAME, GAINS);
    recipe
}

fn with(selector: impl Into<Policy>) -> Recipe {
    let mut recipe = task_by_task();
    recipe.select.selector = selector.into();
    recipe
}

fn first() -> Recipe {
    let mut recipe = with(First);
    recipe.select.candidates = Candidates::Search {
        limit: NonZeroUsize::MIN,
    };
    recipe
}

/// A world's tools: eight with a hidden contract and two without.
pub(super) fn universe(seed: Seed) -> Result<Universe> {
    Universe::make(UniverseSpec::of(8, 2), seed.0)
}

pub(super) fn place(seed: Seed) -> Result<Place> {
    let universe = universe(seed)?;
    let stream = universe.stream(STREAM);
    let held_out = universe.held_out(&stream, HELD_OUT);
    Ok(Place {
        seed,
        stream,
        held_out,
    })
}

async fn learn(parts: &Parts, place: &Place, binary: bool) -> Result<Learned> {
    let mut recipe = task_by_task();
    recipe.attempts.warm_up = WARM_UP;
    let mut rule = LevelReward::default();
    rule.binary = binary;
    recipe.reward.by = rule.into();
    let once = const { NonZeroU64::new(STREAM as u64).expect("not 0") };
    recipe.maintenance.every(GainsPolicy::NAME, once);
    let store = Arc::new(MemoryStore::new());
    let opened = parts.open(recipe, "learn", place.seed, store.clone(), None);
    let report = opened
        .await?
        .learn(spoken::tasks(&place.stream, place.seed)?)
        .await?;
    let written: Vec<_> = report.tasks.iter().flat_map(|task| &task.written).collect();
    let committed = store.load().await?.committed;
    let library = SkillLibrary::replay(&committed)?;
    let used = library.entries().filter(|entry| entry.uses > 0);
    Ok(Learned {
        drafts: written.iter().filter(|one| one.title.is_some()).count(),
        fallbacks: written.iter().filter(|one| one.fallback).count(),
        gains: library
            .entries()
            .filter_map(|entry| Some(entry.life.gained.as_ref()?.gain.nats))
            .collect(),
        utilities: used.map(|entry| entry.utility).collect(),
        committed,
    })
}

async fn evaluate(parts: &Parts, place: &Place, learned: &Learned, recipe: Recipe) -> Result<Arm> {
    let store = library::store(&learned.committed).await?;
    let opened = parts.open(recipe, "evaluate", place.seed, store, None);
    let report = opened
        .await?
        .evaluate(spoken::tasks(&place.held_out, place.seed)?)
        .await?;
    Arm::of(&report, &place.held_out)
}

fn of_attempts(
    report: &RunReport,
    value: fn(&journeyman::run::report::AttemptReport) -> f64,
) -> Vec<f64> {
    let attempts = report.tasks.iter().map(|task| task.attempts.first());
    attempts
        .map(|attempt| attempt.map_or(f64::NAN, value))
        .collect()
}

impl Arm {
    /// The first attempts at these tasks.
    pub(super) fn of(report: &RunReport, tasks: &[StreamTask]) -> Result<Self> {
        let report = attempted(report)?;
        Ok(Self {
            first: stats::flags(&Summaries::first_attempts(report)),
            tools: Self::tools_of(tasks),
            tokens: of_attempts(report, |attempt| attempt.usage.total() as f64),
            used: of_attempts(report, |attempt| {
                f64::from(u8::from(!attempt.injected.is_empty()))
            }),
        })
    }

    pub(super) fn tools_of(tasks: &[StreamTask]) -> Vec<String> {
        let tools = tasks.iter().map(|task| task.world.goal.target.to_string());
        tools.collect()
    }

    /// Without the first tasks of each world.
    pub(super) fn after(&self, tasks: usize, first: usize) -> Self {
        fn kept<T: Clone>(values: &[T], tasks: usize, first: usize) -> Vec<T> {
            let worlds = values.chunks(tasks);
            let kept = worlds.flat_map(|world| world.iter().skip(first));
            kept.cloned().collect()
        }
        Self {
            first: kept(&self.first, tasks, first),
            tools: kept(&self.tools, tasks, first),
            tokens: kept(&self.tokens, tasks, first),
            used: kept(&self.used, tasks, first),
        }
    }

    pub(super) fn add(&mut self, other: Self, world: usize) {
        self.first.extend(other.first);
        let tools = other.tools.iter();
        self.tools
            .extend(tools.map(|tool| format!("{world} {tool}")));
        self.tokens.extend(other.tokens);
        self.used.extend(other.used);
    }
}
