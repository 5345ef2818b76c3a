//! SCRIBE: why routes differ from clusters that came later, and where cuts differ from the world's own.

use futures::executor::block_on;
use journeyman::contract::SkillStore;

use super::{
    STEPS,
    differences::Counts,
    key, scribe,
    world::{Host, MANY_HIDDEN, World},
};
use crate::figures::{Figures, Outcome, recalling};

/// Worlds of a seed.
const WORLDS: u64 = 5;

/// Measures and records.
pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    let mut all = Counts::default();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(&parts, &format!("routes and cuts, world {number}"));
        let one: Counts = figures.once(&key, || {
            let world = World::of(MANY_HIDDEN, seed, number)?;
            let parts = recalling(&parts)?;
            let (store, _) =
                scribe::learn(&Host::new(&parts, world.seed), &world, scribe::LONG_COURSE)?;
            Ok(Counts::of(&block_on(store.load())?.committed)?)
        })?;
        all.add(&one);
    }
    all.record(figures, "scribe-reasons");
    Ok(())
}
