//! Worlds whose streams have demands that pass, so that a single attempt is a noisy witness.

use journeyman::{Result, Seed};
use journeyman_toolworld::{
    passing::{Passing, PassingKind},
    stream::{Universe, UniverseSpec},
};

/// Tools with a hidden contract: in a stream each comes about three times.
pub(super) const HIDDEN: usize = 8;

/// How often a task of the stream shows a demand that passes: a single trace is noisy, what tasks share is not.
const NOISE: f64 = 0.6;

/// What passes is a call in every other world, and a value in the others: which rule is right differs.
pub(super) fn passing(world: u64) -> PassingKind {
    match world % 2 {
        0 => PassingKind::Call,
        _ => PassingKind::Value,
    }
}

/// A world's tools.
pub(super) fn universe(seed: Seed, world: u64) -> Result<Universe> {
    universe_of(HIDDEN, seed, world)
}

/// The same with so many tools with a hidden contract.
pub(crate) fn universe_of(hidden: usize, seed: Seed, world: u64) -> Result<Universe> {
    let spec = UniverseSpec {
        passing: Some(Passing {
            share: NOISE,
            kind: Some(passing(world)),
        }),
        ..UniverseSpec::of(hidden, 2)
    };
    Universe::make(spec, seed.0)
}
