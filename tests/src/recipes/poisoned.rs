//! A poisoned start: half of the skills that the stream begins with are wrong.

use std::{collections::BTreeSet, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed, SkillId, Version,
    admit::{Admittance, to_skill},
    builtin::MemoryStore,
    domain::{Origin, Provenance, Skill, State, Taint},
    recipe,
    run::RunReport,
    select::Selector,
};
use journeyman_toolworld::{
    rivals::stale_service,
    seed::Draws,
    skill_form,
    stream::{StreamTask, Universe, UniverseSpec},
    tool::SkillText,
    world::WorldSpec,
};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{Change, hisme::tasks, key};
use crate::figures::{Bound, Figures, Outcome, stats};

const WORLDS: u64 = 5;
const STREAM: usize = 50;
const HELD_OUT: usize = 60;
const RESAMPLES: usize = 4000;

/// What came of one world.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    none: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    /// Each held-out task's tool.
    tools: Vec<String>,
    /// Wrong skills at the start.
    wrong: usize,
    /// Of these, offered unmended at the end though attempts of the stream followed them.
    left: usize,
    /// Of these, never followed: they did nothing, good or bad, and nothing is known of them.
    idle: usize,
}

/// The arms: what mends and what filters, each switched off in turn, and both.
const ARMS: [(&str, Change); 4] = [
    ("poisoned", |_| {}),
    ("poisoned, no credit filter", |recipe| {
        recipe.maintenance.filter = None;
    }),
    ("poisoned, no refiner", |recipe| {
        recipe.maintenance.refine = None;
    }),
    ("poisoned, no refiner, no credit filter", |recipe| {
        recipe.maintenance.refine = None;
        recipe.maintenance.filter = None;
    }),
];

/// What each is worth; of the filter a bound where nothing is mended.
const PAIRS: [(&str, &str, Bound); 3] = [
    ("poisoned", "poisoned, no refiner", Bound::Above(0.0)),
    ("poisoned", "poisoned, no credit filter", Bound::None),
    (
        "poisoned, no refiner",
        "poisoned, no refiner, no credit filter",
        Bound::Above(0.0),
    ),
];

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let mut arms: Vec<(&str, Vec<f64>)> = Vec::new();
    for (arm, change) in ARMS {
        let mut cells: Vec<Cell> = Vec::new();
        for world in 0..WORLDS {
            let key = key(parts, &format!("{arm}, world {world}"));
            cells.push(figures.once(&key, || {
                let seed = seed.derive("poisoned", world);
                Ok(block_on(cell(parts, seed, change))?)
            })?);
        }
        arms.push((arm, end(figures, arm, &cells)));
        if arm == "poisoned" {
            start(figures, &cells)?;
        }
    }
    let worlds = |name: &str| {
        let arm = arms.iter().find(|(arm, _)| *arm == name);
        arm.map_or(&[][..], |(_, worlds)| worlds)
    };
    for (one, other, bound) in PAIRS {
        let pairs = worlds(one).iter().zip(worlds(other));
        let over: Vec<f64> = pairs.map(|(one, other)| one - other).collect();
        let over = stats::t_interval(&over);
        let name = format!("{one} over {other}, after the stream");
        figures.record(&name, over.mean, bound);
        let name = format!("{name}, over worlds");
        figures.interval(&name, &over, Bound::None, Bound::None);
    }
    Ok(())
}

/// What the stream began with and came to, against no skills.
fn start(figures: &mut Figures<'_>, cells: &[Cell]) -> Outcome {
    let seed = figures.options().seed;
    let all = |values: &dyn Fn(&Cell) -> &[f64]| -> Vec<f64> {
        cells
            .iter()
            .flat_map(|cell| values(cell).to_vec())
            .collect()
    };
    let (none, after) = (all(&|cell| &cell.none), all(&|cell| &cell.after));
    let share = |name: &str, values: &[f64]| (name.to_owned(), stats::mean(values));
    for (name, value) in [
        share("poisoned.no skills, first attempt", &none),
        share("poisoned.before the stream", &all(&|cell| &cell.before)),
    ] {
        figures.record(&name, value, Bound::None);
    }
    let tools: Vec<String> = (0..WORLDS)
        .zip(cells)
        .flat_map(|(world, cell)| cell.tools.iter().map(move |tool| format!("{world} {tool}")))
        .collect();
    let gain = stats::clustered(&none, &after, &tools, seed.derive("tools", 0), RESAMPLES)?;
    let name = "poisoned.after the stream over no skills";
    figures.interval(name, &gain, Bound::AtLeast(-0.02), Bound::None);
    let wrong = cells.iter().map(|cell| cell.wrong).sum::<usize>() as f64;
    let name = "poisoned.wrong skills at the start";
    figures.record(name, wrong, Bound::AtLeast(1.0));
    Ok(())
}

/// What an arm came to; the first attempts of each world.
fn end(figures: &mut Figures<'_>, arm: &str, cells: &[Cell]) -> Vec<f64> {
    let worlds: Vec<f64> = cells.iter().map(|cell| stats::mean(&cell.after)).collect();
    let name = format!("{arm}.after the stream");
    figures.record(&name, stats::mean(&worlds), Bound::None);
    let sum = |count: fn(&Cell) -> usize| cells.iter().map(count).sum::<usize>() as f64;
    let [wrong, left, idle] = [
        sum(|cell| cell.wrong),
        sum(|cell| cell.left),
        sum(|cell| cell.idle),
    ];
    let name = format!("{arm}.wrong skills never followed");
    figures.record(&name, idle / wrong, Bound::None);
    let gone = 1.0 - left / (wrong - idle);
    let bound = match arm {
        "poisoned" => Bound::AtLeast(0.9),
        _ => Bound::None,
    };
    let name = format!("{arm}.of those followed disabled or mended");
    figures.record(&name, gone, bound);
    worlds
}

async fn cell(parts: &Parts, seed: Seed, change: Change) -> Result<Cell> {
    let spec = UniverseSpec {
        hidden: 8,
        plain: 2,
        ..UniverseSpec::default()
    };
    let universe = Universe::make(spec, seed.0)?;
    let stream = universe.stream(STREAM);
    let held_out = universe.held_out(&stream, HELD_OUT);
    let (skills, wrong) = skills(&universe, &stream, seed)?;
    let store = Arc::new(MemoryStore::new());
    let mut learning = recipe::hisme();
    change(&mut learning);
    let journeyman = parts
        .open(learning, "poisoned", seed, store.clone(), None)
        .await?;
    journeyman
        .add(skills, "what the stream begins with")
        .await?;
    let before = journeyman.evaluate(tasks(&held_out)?).await?;
    journeyman.learn(tasks(&stream)?).await?;
    let after = journeyman.evaluate(tasks(&held_out)?).await?;
    let mut unaided = recipe::hisme();
    unaided.selector = Selector::Nothing;
    let nobody = parts.open(unaided, "unaided", seed, store, None).await?;
    let none = nobody.evaluate(tasks(&held_out)?).await?;
    let library = journeyman.library().await?;
    let unmended = library.entries().filter(|entry| {
        let offered = entry.skill.state == State::Active && entry.skill.version == Version(1);
        wrong.contains(&entry.skill.id) && offered
    });
    let (left, idle): (Vec<_>, Vec<_>) = unmended.partition(|entry| entry.life.lifetime().used > 0);
    Ok(Cell {
        none: first(&none),
        before: first(&before),
        after: first(&after),
        tools: held_out
            .iter()
            .map(|task| task.world.goal.target.to_string())
            .collect(),
        wrong: wrong.len(),
        left: left.len(),
        idle: idle.len(),
    })
}

fn first(report: &RunReport) -> Vec<f64> {
    let attempts = report.tasks.iter().map(|task| task.attempts.first());
    let first = attempts.map(|attempt| attempt?.parts.get("first_attempt").copied());
    first.map(|first| first.unwrap_or(0.0)).collect()
}

/// A skill for each tool with a hidden contract: for every other one as the service was once.
fn skills(
    universe: &Universe,
    stream: &[StreamTask],
    seed: Seed,
) -> Result<(Vec<Skill>, BTreeSet<SkillId>)> {
    let mut skills = Vec::new();
    let mut wrong = BTreeSet::new();
    let hidden = universe
        .members()
        .iter()
        .filter(|member| member.service.is_hidden());
    for (number, member) in hidden.enumerate() {
        let name = &member.service.tool.name;
        let task = stream.iter().find(|task| task.world.goal.target == *name);
        let mut draws = Draws::new("poisoned", &[seed.0, number as u64]);
        let old = task.filter(|_| number % 2 == 1).and_then(|task| {
            stale_service(&WorldSpec::default(), &mut task.world.clone(), &mut draws)
        });
        let id = SkillId::new(format!("start-{number:02}"));
        if old.is_some() {
            wrong.insert(id.clone());
        }
        let service = old.as_ref().unwrap_or(&member.service);
        let text = SkillText::of(service, &member.given);
        let admittance = Admittance {
            id,
            version: Version(1),
            provenance: Provenance {
                origin: Origin::Seed,
                runs: Vec::new(),
                tasks: Vec::new(),
            },
            taint: Taint::Clean,
            parents: Vec::new(),
        };
        skills.push(to_skill(&skill_form::to_draft(&text), admittance)?);
    }
    Ok((skills, wrong))
}
