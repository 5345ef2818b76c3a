//! A refresh of SCRIBE's prototypes over many subgoals: `cargo bench -p journeyman --bench clusters -- [--seed N]`. A line for each
//! figure: name, value, bound, ok or short; status 1 when one is short.
//!
//! The library has assessed subgoals of 300 kinds, each worded with words of its own, so that hardly two texts are equal. A refresh
//! embeds them (hashed n-grams), clusters them and finds which clusters go on; what a role takes to distil a cluster is the model's
//! time, and not in it. The time is that of learning from one task with a refresh less that without.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs
)]
// What the SDK does not do a bench has to: read a clock and its arguments.
#![allow(clippy::disallowed_methods)]

#[path = "../../tests/src/figures/median.rs"]
mod median;

use std::{num::NonZeroU64, process::ExitCode, sync::Arc, time::Instant};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Seed, TaskId,
    agent::{EnvironmentJudge, MemoryStore},
    contract::{Components, SkillStore},
    domain::{AssessedSubgoal, Assessment, AttemptId, LibraryChange, Role, Subgoal},
    papers::scribe::AssessPolicy,
    recipe,
    run::{Journeyman, Options},
    testing::{Play, ScriptedEnvironment, ScriptedExecutor, ScriptedModel, ScriptedRoles, sample},
};

const SIZES: [usize; 2] = [1_000, 10_000];
const ROUNDS: [usize; 2] = [5, 1];
/// The greatest exponent of the time's growth.
const EXPONENT: f64 = 2.2;
const KINDS: u64 = 300;
/// Words that a subgoal is worded with, beside those of its kind.
const WORDS: u64 = 2_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let place = arguments.iter().position(|one| one == "--seed");
    let seed = place.map_or(1, |at| arguments[at + 1].parse().expect("a seed"));
    let seed = Seed(seed);
    let times: Vec<f64> = SIZES
        .into_iter()
        .zip(ROUNDS)
        .map(|(size, rounds)| refresh(seed, size, rounds))
        .collect();
    for (size, time) in SIZES.iter().zip(&times) {
        println!("clusters.seconds of a refresh over {size} subgoals, {time:.3}, none, ok");
    }
    let exponent = (times[1] / times[0]).log10();
    let holds = exponent <= EXPONENT;
    println!(
        "clusters.exponent of the growth from 1000 to 10000, {exponent:.3}, <= {EXPONENT}, {}",
        if holds { "ok" } else { "short" }
    );
    ExitCode::from(u8::from(!holds))
}

/// The median over rounds of the seconds of a refresh.
fn refresh(seed: Seed, size: usize, rounds: usize) -> f64 {
    let times: Vec<f64> = (0..rounds)
        .map(|round| {
            let seed = seed.derive("round", round as u64);
            learn(seed, size, NonZeroU64::MIN) - learn(seed, size, NonZeroU64::MAX)
        })
        .collect();
    median::median(times)
}

/// Seconds of learning from one task with a library of so many subgoals, whose first refresh comes after so many tasks.
fn learn(seed: Seed, size: usize, first: NonZeroU64) -> f64 {
    let store = block_on(filled(seed, size));
    let mut recipe = recipe::scribe();
    let mut assess = AssessPolicy::default();
    assess.first = first;
    assess.refresh = first;
    assess.anchors = None;
    recipe.assess = Some(assess.into());
    let agent = ScriptedExecutor::acting(|_, _| Play::Give(None));
    let model = ScriptedModel::always("none: nothing is to be learned");
    let parts = Components::new(
        Arc::new(agent),
        Arc::new(ScriptedEnvironment::words()),
        Arc::new(EnvironmentJudge),
    )
    .with_store(store)
    .with_model(Arc::new(model))
    .with_roles(Arc::new(ScriptedRoles::only([
        Role::Segment,
        Role::DistilPrototype,
        Role::Score,
    ])));
    block_on(async {
        let options = Options::new("clusters", seed);
        let journeyman = Journeyman::open(parts, recipe, options).await.unwrap();
        let task = sample::task("greet", &["good"]);
        let begun = Instant::now();
        journeyman.learn(vec![task]).await.unwrap();
        begun.elapsed().as_secs_f64()
    })
}

/// A library of so many assessed subgoals.
async fn filled(seed: Seed, size: usize) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let subgoals = (0..size as u64).map(|number| subgoal(seed.derive("subgoal", number), number));
    let changes = subgoals.map(|assessment| LibraryChange::Assess(Box::new(assessment)));
    let commit =
        sample::commit(0, "subgoals", Vec::new()).edited(|it| it.changes = changes.collect());
    store.commit(&commit).await.unwrap();
    store
}

/// An attempt with one subgoal: what is done to what, and three words of its own.
fn subgoal(seed: Seed, number: u64) -> Assessment {
    let draw = |what: &str, below: u64| (seed.derive(what, 0).unit() * below as f64) as u64;
    let kind = draw("kind", KINDS);
    let own = |place: u64| word(KINDS + draw(&format!("word {place}"), WORDS));
    Assessment::new(
        AttemptId::new(format!("attempt-{number}")),
        TaskId::new(format!("task-{number}")),
    )
    .with_success(true)
    .with_subgoals(vec![AssessedSubgoal::new(Subgoal::new(
        format!(
            "{} the {} by {} {} {}",
            word(kind % 20),
            word(kind),
            own(0),
            own(1),
            own(2)
        ),
        format!("{} {}", word(kind % 20), word(kind)),
        0,
        0,
    ))])
}

/// A word for a number: pronounceable, and hardly like another.
fn word(number: u64) -> String {
    let mut rest = Seed(number).derive("letters", 0);
    let mut letters = String::new();
    for place in 0..6 {
        rest = rest.derive("letter", place);
        let from: &[u8] = if place % 2 == 0 {
            b"bcdfghjklmnprstvz"
        } else {
            b"aeiou"
        };
        let at = rest.index(from.len()).unwrap_or(0);
        letters.push(char::from(from[at]));
    }
    letters
}
