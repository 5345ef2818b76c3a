//! All recipes and three mixed ones on the same worlds, each with the same number of model tokens.

use futures::executor::block_on;
use journeyman::{contract::SkillStore, domain::State, library::SkillLibrary, recipe};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    arms::{self, Arm, Learning},
    key, spread,
    world::{Held, Host, World},
};
use crate::figures::{Figures, Outcome};

/// Tokens that the model may use to learn: in attempts, roles, test cases and the gate. An attempt without a skill takes 741
/// (seed 100, with 16 hidden contracts).
pub(super) const BUDGET: u64 = 32_000;
/// Worlds behind the table of all recipes, which has no bounds: the first of those of SkillOS and SkillRL.
const WORLDS: u64 = 2;

const ARMS: [Arm; 10] = [
    Arm {
        name: "no skills",
        recipe: recipe::skillos,
        learning: Learning::Nothing,
    },
    Arm::of("arise", arms::arise),
    Arm::of("hisme", recipe::hisme),
    Arm::of("hisme-robust", recipe::hisme_robust),
    Arm::of("scribe", arms::scribe),
    Arm::of("skillos", recipe::skillos),
    Arm::of("skillrl", arms::skillrl),
    Arm::of("hisme under scribe", arms::hisme_under_scribe),
    Arm::of("skillrl behind arise", arms::skillrl_behind_arise),
    Arm::of("skillos released as hisme", arms::skillos_released_as_hisme),
];

/// What came of an arm in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) held: Held,
    /// Tasks that it learned from with its tokens.
    pub(super) learned: usize,
    pub(super) spent: u64,
    /// Skills in use at the end, which an evaluation offers; those on trial are not among them.
    pub(super) offered: usize,
}

/// An arm in a world: it learns with its tokens, and attempts the held-out tasks.
pub(super) fn cell(
    figures: &mut Figures<'_>,
    parts: &Parts,
    arm: &Arm,
    number: u64,
) -> Result<Cell, Box<dyn std::error::Error + Send + Sync>> {
    let seed = figures.options().seed;
    let key = key(parts, &format!("{}, world {number}", arm.name));
    figures.once(&key, || {
        let world = World::new(seed, number)?;
        let host = Host::new(parts, world.seed);
        let learned = arms::learn(&host, &world, arm, BUDGET)?;
        let library = SkillLibrary::replay(&block_on(learned.store.load())?.committed)?;
        let states = library.entries().map(|entry| entry.skill.state);
        Ok(Cell {
            held: host.evaluate((arm.recipe)(), &learned.store, &world.held_out)?,
            learned: learned.learned,
            spent: learned.spent,
            offered: states.filter(|state| *state == State::Active).count(),
        })
    })
}

/// An arm in so many worlds.
pub(super) fn cells(
    figures: &mut Figures<'_>,
    parts: &Parts,
    arm: &Arm,
    worlds: u64,
) -> Result<Vec<Cell>, Box<dyn std::error::Error + Send + Sync>> {
    (0..worlds)
        .map(|number| cell(figures, parts, arm, number))
        .collect()
}

/// The shares of held-out tasks that were done at the first attempt, by world.
pub(super) fn firsts(cells: &[Cell]) -> Vec<f64> {
    cells.iter().map(|cell| cell.held.first).collect()
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    for arm in &ARMS {
        let cells = cells(figures, parts, arm, WORLDS)?;
        let mut record = |what: &str, value: &dyn Fn(&Cell) -> f64| {
            let values: Vec<f64> = cells.iter().map(value).collect();
            spread(figures, &format!("together.{}.{what}", arm.name), &values);
        };
        record("first attempt", &|cell| cell.held.first);
        record("within the budget", &|cell| cell.held.success);
        record("steps a held-out task", &|cell| cell.held.steps);
        record("tokens a held-out task", &|cell| cell.held.tokens);
        record("tasks learned from", &|cell| cell.learned as f64);
        record("tokens to learn", &|cell| cell.spent as f64);
        record("skills offered", &|cell| cell.offered as f64);
    }
    Ok(())
}
