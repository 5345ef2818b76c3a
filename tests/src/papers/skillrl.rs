//! SkillRL: its hierarchical bank against a flat one and against raw trajectories, evolution on and off, and compression.

use std::num::NonZeroUsize;

use futures::executor::block_on;
use journeyman::{
    contract::{Journal, SkillStore},
    domain::{Skill, SkillRef},
    library::SkillLibrary,
    papers::skillrl::{BankPolicy, Compression},
    recipe::Recipe,
    run::recorded_attempts,
    stations::select::{Candidates, Top},
};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    WORLDS,
    arms::{self, Arm},
    bounded, difference, key,
    skillos::{NONE, RAW},
    spread,
    together::{BUDGET, Cell, cells, firsts},
    world::{Host, World},
};
use crate::figures::{Bound, Figures, Outcome};

const SKILLRL: Arm = Arm::of("skillrl", arms::skillrl);
/// The same bank, of which the two best by BM25 are given, whatever their category.
const FLAT: Arm = Arm::of("skillrl, flat", flat);
/// The first bank stays as it is.
const NO_EVOLUTION: Arm = Arm::of("skillrl, no evolution", no_evolution);

fn flat() -> Recipe {
    const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("not 0");
    let mut recipe = arms::skillrl();
    recipe.select.candidates = Candidates::Search { limit: TWO };
    recipe.select.selector = Top::new(TWO).into();
    recipe
}

fn no_evolution() -> Recipe {
    let mut recipe = arms::skillrl();
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|bank: &mut BankPolicy| bank.success = 0.0);
    recipe
}

/// Tokens of a bank and of the trajectories behind it, and what is chosen of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Bank {
    /// The share of held-out tasks for which the same skills of this bank are chosen, in the same order, by category and without
    /// categories.
    alike: f64,
    ratio: f64,
    skills: usize,
    trajectories: usize,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let none = cells(figures, parts, &NONE, WORLDS)?;
    let raw = cells(figures, parts, &RAW, WORLDS)?;
    let bank = cells(figures, parts, &SKILLRL, WORLDS)?;
    let flat = cells(figures, parts, &FLAT, WORLDS)?;
    let frozen = cells(figures, parts, &NO_EVOLUTION, WORLDS)?;
    for (name, cells) in [
        ("no skills", &none),
        ("raw trajectories", &raw),
        ("hierarchical", &bank),
        ("flat", &flat),
        ("no evolution", &frozen),
    ] {
        let mut record = |what: &str, value: &dyn Fn(&Cell) -> f64| {
            let values: Vec<f64> = cells.iter().map(value).collect();
            spread(figures, &format!("skillrl.{name}.{what}"), &values);
        };
        record("first attempt", &|cell| cell.held.first);
        record("within the budget", &|cell| cell.held.success);
        record("tokens a held-out task", &|cell| cell.held.tokens);
        record("skills offered", &|cell| cell.offered as f64);
    }
    for (name, one, other) in [
        ("hierarchical over flat", &bank, &flat),
        ("hierarchical over raw trajectories", &bank, &raw),
        ("evolution over none", &bank, &frozen),
    ] {
        let name = format!("skillrl.{name}, first attempt");
        let above = (Bound::Above(0.0), Bound::None);
        difference(figures, &name, (&firsts(one), &firsts(other)), above);
    }
    let mut banks: Vec<Bank> = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(parts, &format!("bank, world {number}"));
        banks.push(figures.once(&key, || {
            let world = World::new(seed, number)?;
            Ok(bank_of(parts, &world)?)
        })?);
    }
    let ratios: Vec<f64> = banks.iter().map(|one| one.ratio).collect();
    bounded(
        figures,
        "skillrl.tokens of raw trajectories for each token of the bank",
        &ratios,
        Bound::AtLeast(10.0),
    );
    let alike: Vec<f64> = banks.iter().map(|one| one.alike).collect();
    let name = "skillrl.held-out tasks with the same skills of one bank, hierarchical and flat";
    spread(figures, name, &alike);
    let counts = |count: fn(&Bank) -> usize| -> Vec<f64> {
        banks.iter().map(|one| count(one) as f64).collect()
    };
    spread(
        figures,
        "skillrl.skills of the bank",
        &counts(|one| one.skills),
    );
    let trajectories = counts(|one| one.trajectories);
    spread(
        figures,
        "skillrl.trajectories behind the bank",
        &trajectories,
    );
    Ok(())
}

/// Compares the bank with all attempts at the tasks that it was distilled from, and what is chosen of it in both ways.
fn bank_of(parts: &Parts, world: &World) -> journeyman::Result<Bank> {
    let host = Host::new(parts, world.seed);
    // As the arm did: what it asks again is recalled.
    let learned = arms::learn(&host, world, &SKILLRL, BUDGET)?;
    let chosen = |recipe| -> journeyman::Result<Vec<Vec<SkillRef>>> {
        let report = host.report(recipe, &learned.store, &world.held_out)?;
        let attempts = report.tasks.into_iter().map(|task| task.attempts);
        let injected = attempts.map(|attempts| attempts.into_iter().next().map(|one| one.injected));
        Ok(injected.map(Option::unwrap_or_default).collect())
    };
    let (by_category, flat) = (chosen(arms::skillrl())?, chosen(flat())?);
    let both = by_category.iter().zip(&flat);
    let alike = both.filter(|(one, other)| one == other).count() as f64;
    block_on(async {
        let snapshot = learned.store.load().await?;
        let library = SkillLibrary::replay(&snapshot.committed)?;
        let offered = library.entries().map(|entry| &entry.skill);
        let skills: Vec<&Skill> = offered.filter(|skill| skill.state.is_offered()).collect();
        let mut attempts = Vec::new();
        for run in learned.journal.runs().await? {
            attempts.extend(recorded_attempts(&learned.journal.read(&run).await?)?);
        }
        let of = Compression::of_skills(parts.model.as_ref(), &skills, &attempts);
        Ok(Bank {
            alike: alike / by_category.len() as f64,
            ratio: of.ratio().unwrap_or(f64::NAN),
            skills: skills.len(),
            trajectories: of.trajectories,
        })
    })
}
