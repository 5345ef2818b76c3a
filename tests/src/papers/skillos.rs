//! SkillOS: a curator against no memory and raw memory, groups of tasks, the mix of its calls, and another executor.

use std::{collections::BTreeMap, num::NonZeroUsize};

use journeyman::{
    agent::MemoryStore,
    papers::skillos::Efficiency,
    recipe,
    run::report::{CallCounts, CallOutcome, CallRefusal, CurationReport, NoAnswer, TaskReport},
};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    WORLDS,
    arms::{self, Arm, Learning},
    bounded, difference, key, spread,
    together::{BUDGET, Cell, cells, firsts},
    world::{Agent, Host, World},
};
use crate::figures::{Bound, Figures, Outcome, stats};

pub(super) const NONE: Arm = Arm {
    name: "no skills",
    recipe: recipe::skillos,
    learning: Learning::Nothing,
};
pub(super) const RAW: Arm = Arm {
    name: "raw memory",
    recipe: recipe::skillos,
    learning: Learning::Raw,
};
const GROUPED: Arm = Arm {
    name: "skillos, grouped",
    recipe: recipe::skillos,
    learning: Learning::Grouped(8),
};
const CURATOR: Arm = Arm::of("skillos", recipe::skillos);

/// The stream is divided into so many parts, and the mix of calls is recorded for each.
const PARTS: usize = 4;

/// A curator's work in one world.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Curated {
    /// Calls that were valid, of all.
    validity: f64,
    /// Why the others were not, with their numbers.
    refused: BTreeMap<String, usize>,
    /// For each part of the stream the shares of inserts, updates and deletes of its calls, and its calls a task.
    parts: Vec<[f64; 4]>,
    /// First attempts of an agent without a model, with the library and without it.
    by_rule: [f64; 2],
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let none = cells(figures, parts, &NONE, WORLDS)?;
    let raw = cells(figures, parts, &RAW, WORLDS)?;
    let curator = cells(figures, parts, &CURATOR, WORLDS)?;
    let grouped = cells(figures, parts, &GROUPED, WORLDS)?;
    for (name, cells) in [
        ("no memory", &none),
        ("raw memory", &raw),
        ("curator", &curator),
        ("curator, grouped", &grouped),
    ] {
        let mut record = |what: &str, value: &dyn Fn(&Cell) -> f64| {
            let values: Vec<f64> = cells.iter().map(value).collect();
            spread(figures, &format!("skillos.{name}.{what}"), &values);
        };
        record("first attempt", &|cell| cell.held.first);
        record("within the budget", &|cell| cell.held.success);
        record("steps a held-out task", &|cell| cell.held.steps);
        record("tokens a held-out task", &|cell| cell.held.tokens);
        record("tasks learned from", &|cell| cell.learned as f64);
    }
    let above = (Bound::Above(0.0), Bound::None);
    for (name, one, other) in [
        ("curator over no memory", &curator, &none),
        ("curator over raw memory", &curator, &raw),
        ("grouped over ungrouped", &grouped, &curator),
    ] {
        let name = format!("skillos.{name}, first attempt");
        difference(figures, &name, (&firsts(one), &firsts(other)), above);
    }
    let steps = |cells: &[Cell]| -> Vec<f64> { cells.iter().map(|cell| cell.held.steps).collect() };
    difference(
        figures,
        "skillos.steps of a held-out task, curator less no memory",
        (&steps(&curator), &steps(&none)),
        (Bound::None, Bound::Below(0.0)),
    );
    let mut curated = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(parts, &format!("curated, world {number}"));
        curated.push(figures.once(&key, || {
            let world = World::new(seed, number)?;
            Ok(curate(parts, &world)?)
        })?);
    }
    report(figures, &curated);
    Ok(())
}

fn report(figures: &mut Figures<'_>, curated: &[Curated]) {
    let valid: Vec<f64> = curated.iter().map(|one| one.validity).collect();
    let name = "skillos.valid calls of the curator, of all";
    bounded(figures, name, &valid, Bound::AtLeast(0.9));
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for (why, count) in curated.iter().flat_map(|one| &one.refused) {
        *refused.entry(why).or_default() += count;
    }
    for (why, count) in refused {
        let name = format!("skillos.calls of the curator that are not valid: {why}");
        figures.record(&name, count as f64, Bound::None);
    }
    for part in 0..PARTS {
        for (place, what) in ["inserts", "updates", "deletes", "calls a task"]
            .into_iter()
            .enumerate()
        {
            let values = curated
                .iter()
                .filter_map(|one| one.parts.get(part)?.get(place));
            let values: Vec<f64> = values.copied().filter(|value| value.is_finite()).collect();
            let name = format!("skillos.calls in part {} of {PARTS}, {what}", part + 1);
            match values.is_empty() {
                true => figures.skip(&name, "no world has a call there"),
                false => figures.record(&name, stats::mean(&values), Bound::None),
            }
        }
    }
    let firsts =
        |with: usize| -> Vec<f64> { curated.iter().map(|one| one.by_rule[with]).collect() };
    difference(
        figures,
        "skillos.an agent by rule with the library over the same without, first attempt",
        (&firsts(0), &firsts(1)),
        (Bound::Above(0.0), Bound::None),
    );
}

fn curate(parts: &Parts, world: &World) -> journeyman::Result<Curated> {
    let host = Host::new(parts, world.seed);
    // As the arm did: what it asks again is recalled.
    let learned = arms::learn(&host, world, &CURATOR, BUDGET)?;
    let mut counts = CallCounts::default();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    for curation in (learned.tasks.iter()).filter_map(|task| task.curation.as_ref()) {
        counts.add(curation.counts());
        for why in refusals(curation) {
            *refused.entry(why).or_default() += 1;
        }
    }
    let rule = Host {
        agent: Agent::Rule,
        ..host.clone()
    };
    let first = |host: &Host<'_>, store: &MemoryStore| -> journeyman::Result<f64> {
        let held = host.evaluate(recipe::skillos(), store, &world.held_out)?;
        Ok(held.first)
    };
    Ok(Curated {
        validity: counts.validity(),
        refused,
        parts: mix(&learned.tasks),
        by_rule: [
            first(&rule, &learned.store)?,
            first(&rule, &MemoryStore::new())?,
        ],
    })
}

/// Why the calls of a curation were not valid, without what the model wrote.
fn refusals(curation: &CurationReport) -> Vec<String> {
    let unreadable = match curation.no_answer {
        Some(NoAnswer::Unreadable(_)) => Some("the answer could not be read".to_owned()),
        _ => None,
    };
    let why = |refusal: &CallRefusal| match refusal {
        CallRefusal::Arguments(_) => "the arguments do not fit".to_owned(),
        CallRefusal::NotAdmitted(_) => "the skill was not admitted".to_owned(),
        other => other.to_string(),
    };
    let refused = curation
        .calls
        .iter()
        .filter_map(|call| match &call.outcome {
            CallOutcome::Refused(refusal) => Some(why(refusal)),
            _ => None,
        });
    unreadable.into_iter().chain(refused).collect()
}

/// The mix of calls in each part of the stream; the shares are not numbers where a part has no call.
fn mix(tasks: &[TaskReport]) -> Vec<[f64; 4]> {
    let window = NonZeroUsize::new(tasks.len().div_ceil(PARTS)).unwrap_or(NonZeroUsize::MIN);
    let windows = Efficiency::of(tasks, window).windows;
    let part = |window: &journeyman::papers::skillos::CallWindow| {
        let calls = f64::from(window.calls.all()) / window.tasks as f64;
        let mix = window.mix();
        let share = |of: fn(&journeyman::papers::skillos::CallMix) -> f64| {
            mix.as_ref().map_or(f64::NAN, of)
        };
        [
            share(|mix| mix.insert),
            share(|mix| mix.update),
            share(|mix| mix.delete),
            calls,
        ]
    };
    windows.iter().map(part).collect()
}
