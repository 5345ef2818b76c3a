//! SkillRL: how its bank grows while it learns (figure 3 of the paper; row R7).

use std::num::NonZeroU64;

use futures::executor::block_on;
use journeyman::{
    contract::SkillStore,
    papers::skillrl::{BankPolicy, bank_growth},
    recipe::Recipe,
};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    STEPS,
    arms::{self, Arm},
    key, spread,
    world::{Host, MANY_HIDDEN, World},
};
use crate::figures::{Figures, Outcome, recalling};

/// Worlds behind each figure.
const WORLDS: u64 = 5;
/// Tokens that the model may use to learn: more than an arm beside others has, since a bank grows slowly.
const BUDGET: u64 = 384_000;
/// Tasks of a round.
const ROUND: NonZeroU64 = NonZeroU64::new(10).expect("not 0");

const SKILLRL: Arm = Arm::of("skillrl, rounds of ten", skillrl);

fn skillrl() -> Recipe {
    let mut recipe = arms::skillrl();
    recipe.attempts.group = arms::LARGE_GROUP;
    let maintenance = &mut recipe.maintenance;
    maintenance.edit(|bank: &mut BankPolicy| bank.round = ROUND);
    recipe
}

/// Equal parts of a library's revisions.
const PARTS: usize = 4;

/// The bank of one world at the end of each part.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Size {
    general: usize,
    specific: usize,
    categories: usize,
}

/// Measures and records.
pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    let mut worlds: Vec<[Size; PARTS]> = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(&parts, &format!("growth of the bank, world {number}"));
        worlds.push(figures.once(&key, || {
            let world = World::of(MANY_HIDDEN, seed, number)?;
            Ok(growth(&recalling(&parts)?, &world)?)
        })?);
    }
    for part in 0..PARTS {
        let mut record = |what: &str, value: fn(&Size) -> usize| {
            let values: Vec<f64> = worlds.iter().map(|of| value(&of[part]) as f64).collect();
            let name = format!("skillrl-growth.after part {} of {PARTS}, {what}", part + 1);
            spread(figures, &name, &values);
        };
        record("general skills", |size| size.general);
        record("skills of a category", |size| size.specific);
        record("categories with a skill", |size| size.categories);
    }
    Ok(())
}

fn growth(parts: &Parts, world: &World) -> journeyman::Result<[Size; PARTS]> {
    let host = Host::new(parts, world.seed);
    let learned = arms::learn(&host, world, &SKILLRL, BUDGET)?;
    let committed = block_on(learned.store.load())?.committed;
    let sizes = bank_growth(&committed)?;
    let last = committed.last().map_or(0, |commit| commit.revision.0);
    Ok(std::array::from_fn(|part| {
        let until = last * (part as u64 + 1) / PARTS as u64;
        let at = sizes.iter().rfind(|size| size.revision.0 <= until);
        at.map_or(Size::default(), |size| Size {
            general: size.general,
            specific: size.specific(),
            categories: size.categories.len(),
        })
    }))
}
