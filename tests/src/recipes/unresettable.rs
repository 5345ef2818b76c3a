//! HiSME and ARISE in a world that cannot be set up again: each task is attempted once, and nothing is replayed.

use std::{
    collections::BTreeMap,
    ops::RangeInclusive,
    sync::{Arc, Mutex, PoisonError},
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Result, Seed, TaskId,
    agent::MemoryStore,
    async_trait,
    contract::{Environment, EnvironmentCapabilities, Episode},
    domain::{State, Task},
    recipe::{self, Recipe},
    run::Journeyman,
};
use journeyman_toolworld::{environment::Toolworld, stream::Universe};
use quickstart::{Parts, Summaries, spoken};
use serde::{Deserialize, Serialize};

use super::{
    STEPS, arise,
    hisme::{one_task, without_skills},
    key, noisy, spread,
};
use crate::figures::{Bound, Figures, Outcome, attempted, stats};

/// Worlds behind each figure.
const WORLDS: u64 = 5;
/// Tasks that are learned from.
const STREAM: usize = 40;
/// Tasks that are attempted with the frozen library.
const HELD_OUT: usize = 40;

/// Sets each task up once. A second time is refused, and counted.
#[derive(Debug)]
struct Once {
    inner: Toolworld,
    resets: Mutex<BTreeMap<TaskId, u32>>,
}

impl Once {
    fn new() -> Result<Self> {
        Ok(Self {
            inner: Toolworld::new(STEPS)?,
            resets: Mutex::default(),
        })
    }

    fn count(&self, task: &TaskId) -> u32 {
        let mut resets = self.resets.lock().unwrap_or_else(PoisonError::into_inner);
        let count = resets.entry(task.clone()).or_default();
        *count += 1;
        *count
    }

    /// How often a task was set up that had been set up before.
    fn again(&self) -> u32 {
        let resets = self.resets.lock().unwrap_or_else(PoisonError::into_inner);
        resets.values().map(|count| count - 1).sum()
    }
}

#[async_trait]
impl Environment for Once {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::default()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        match self.count(&task.id) {
            1 => self.inner.reset(task, seed).await,
            _ => Err(Error::new(
                ErrorKind::Internal,
                "Once::reset",
                "the task was set up before",
            )),
        }
    }
}

/// What a recipe learned in one world, by held-out tasks in a world like it that can be set up again.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    /// Share of held-out tasks that are done at the first attempt, with the frozen library.
    first: f64,
    /// Skills that are offered in evaluation.
    active: usize,
    /// Skills that are still on trial.
    on_trial: usize,
    /// How often a task was set up that had been set up before.
    again: u32,
    /// Attempts at test cases.
    cases: u64,
    /// Tokens that maintenance used.
    maintenance: u64,
}

/// A recipe, and the universes that it learns in.
struct Arm {
    name: &'static str,
    recipe: fn() -> Recipe,
    universe: fn(Seed, u64) -> Result<Universe>,
    /// Whether the world can be set up again, for comparison.
    resets: bool,
    /// Bounds of the gain over the arm without skills: of its mean, and of the interval's lower end over worlds.
    gain: (Bound, Bound),
    /// The arm without skills, in the same universes.
    unaided: &'static str,
}

/// Demands that pass, so that a single attempt is a noisy witness.
fn noisy_world(seed: Seed, world: u64) -> Result<Universe> {
    noisy::universe(seed, world)
}

fn plain_world(seed: Seed, _: u64) -> Result<Universe> {
    arise::universe(seed)
}

fn unaided() -> Recipe {
    let mut recipe = recipe::hisme_robust();
    without_skills(&mut recipe);
    recipe
}

fn arise_at_once() -> Recipe {
    let mut recipe = arise::task_by_task();
    recipe.attempts.warm_up = arise::WARM_UP;
    recipe
}

/// A single live attempt that went well suffices for a release, as in `hisme`.
fn robust_at_one_task() -> Recipe {
    let mut recipe = recipe::hisme_robust();
    one_task(&mut recipe);
    recipe
}

const ARMS: [Arm; 9] = [
    Arm {
        name: "no skills",
        recipe: unaided,
        universe: noisy_world,
        resets: false,
        gain: (Bound::None, Bound::None),
        unaided: "no skills",
    },
    Arm {
        name: "hisme-robust",
        recipe: recipe::hisme_robust,
        universe: noisy_world,
        resets: false,
        gain: (Bound::None, Bound::Above(0.0)),
        unaided: "no skills",
    },
    Arm {
        name: "hisme",
        recipe: recipe::hisme,
        universe: noisy_world,
        resets: false,
        gain: (Bound::Above(0.0), Bound::None),
        unaided: "no skills",
    },
    Arm {
        name: "hisme-robust, one task suffices",
        recipe: robust_at_one_task,
        universe: noisy_world,
        resets: false,
        gain: (Bound::None, Bound::None),
        unaided: "no skills",
    },
    Arm {
        name: "hisme-robust, with resets",
        recipe: recipe::hisme_robust,
        universe: noisy_world,
        resets: true,
        gain: (Bound::None, Bound::None),
        unaided: "no skills",
    },
    Arm {
        name: "no skills, plain worlds",
        recipe: unaided,
        universe: plain_world,
        resets: false,
        gain: (Bound::None, Bound::None),
        unaided: "no skills, plain worlds",
    },
    Arm {
        name: "hisme-robust, plain worlds",
        recipe: recipe::hisme_robust,
        universe: plain_world,
        resets: false,
        gain: (Bound::None, Bound::None),
        unaided: "no skills, plain worlds",
    },
    Arm {
        name: "arise",
        recipe: arise_at_once,
        universe: plain_world,
        resets: false,
        gain: (Bound::None, Bound::Above(0.0)),
        unaided: "no skills, plain worlds",
    },
    Arm {
        name: "arise, with resets",
        recipe: arise_at_once,
        universe: plain_world,
        resets: true,
        gain: (Bound::None, Bound::None),
        unaided: "no skills, plain worlds",
    },
];

/// Seeds at which the arms that have no bound and set worlds up again are left out: they take four tenths of the time.
const WITHOUT_RESETS: RangeInclusive<u64> = 2..=5;

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let seed_with_resets = !WITHOUT_RESETS.contains(&seed.0);
    let seed = seed.derive("unresettable", 0);
    let mut arms: BTreeMap<&str, Vec<Cell>> = BTreeMap::new();
    for arm in &ARMS {
        if arm.resets && !seed_with_resets {
            figures.skip(arm.name, "for comparison, at seed 1 alone");
            continue;
        }
        let mut cells = Vec::new();
        for world in 0..WORLDS {
            let key = key(parts, &format!("unresettable, {}, world {world}", arm.name));
            let seed = seed.derive("world", world);
            cells.push(figures.once(&key, || Ok(block_on(cell(parts, arm, seed, world))?))?);
        }
        report(figures, arm, &cells);
        arms.insert(arm.name, cells);
    }
    for arm in ARMS.iter().filter(|arm| arm.name != arm.unaided) {
        let (Some(with), Some(without)) = (arms.get(arm.name), arms.get(arm.unaided)) else {
            continue;
        };
        let firsts = |cells: &[Cell]| cells.iter().map(|cell| cell.first).collect::<Vec<f64>>();
        let gain = stats::paired(&firsts(with), &firsts(without));
        let name = format!("{} over {}, first attempt", arm.name, arm.unaided);
        let (mean, low) = arm.gain;
        figures.record(&format!("{name}, mean"), gain.mean, mean);
        figures.interval(&name, &gain, low, Bound::None);
    }
    Ok(())
}

fn report(figures: &mut Figures<'_>, arm: &Arm, cells: &[Cell]) {
    let name = arm.name;
    let values = |of: fn(&Cell) -> f64| cells.iter().map(of).collect::<Vec<f64>>();
    spread(
        figures,
        &format!("{name}.first attempt"),
        &values(|cell| cell.first),
    );
    let mut mean = |what: &str, of: fn(&Cell) -> f64, bound| {
        let mean = stats::mean(&values(of));
        figures.record(&format!("{name}.{what}"), mean, bound);
    };
    let none = if arm.resets {
        Bound::None
    } else {
        Bound::AtMost(0.0)
    };
    mean("tasks set up again", |cell| cell.again.into(), none);
    mean("attempts at test cases", |cell| cell.cases as f64, none);
    mean("skills in use", |cell| cell.active as f64, Bound::None);
    mean("skills on trial", |cell| cell.on_trial as f64, Bound::None);
    mean(
        "tokens of maintenance",
        |cell| cell.maintenance as f64,
        Bound::None,
    );
}

async fn cell(parts: &Parts, arm: &Arm, seed: Seed, world: u64) -> Result<Cell> {
    let universe = (arm.universe)(seed, world)?;
    let stream = universe.stream(STREAM);
    let held_out = spoken::tasks(&universe.held_out(&stream, HELD_OUT), seed)?;
    let store = Arc::new(MemoryStore::new());
    let mut components = parts.components(store.clone(), None)?;
    let once = Arc::new(Once::new()?);
    if !arm.resets {
        components.environment = Some(once.clone());
    }
    let options = parts.options("unresettable", seed);
    let journeyman = Journeyman::open(components, (arm.recipe)(), options).await?;
    let learned = journeyman.learn(spoken::tasks(&stream, seed)?).await?;
    let library = journeyman.library().await?;
    let count = |state| {
        let entries = library.entries();
        entries.filter(|entry| entry.skill.state == state).count()
    };
    // Measuring is no learning: it has a world of its own, which can be set up again.
    let measuring = parts
        .open((arm.recipe)(), "measure", seed, store, None)
        .await?;
    let measured = measuring.evaluate(held_out).await?;
    let first = Summaries::first_attempts(attempted(&measured)?);
    Ok(Cell {
        first: stats::mean(&stats::flags(&first)),
        active: count(State::Active),
        on_trial: count(State::Trial),
        again: once.again(),
        cases: learned.maintenance.attempts,
        maintenance: learned.maintenance.tokens(),
    })
}
