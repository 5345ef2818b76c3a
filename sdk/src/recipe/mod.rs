//! Recipes: a policy for each station, and the maintenance programs, as data that a run's journal holds. A recipe names its policies
//! ([`Policy`](crate::policy::Policy)), ours like a host's own. [`standard`] is the default, `arise`, `hisme`, `scribe`,
//! `skillos` and `skillrl` have the papers' numbers, `hisme_robust` is HiSME with options of our own; each is built in the room
//! of its paper ([`papers`](crate::papers)). [`Recipe::resolve`] builds the policies that a recipe names; it stands here, above the
//! papers, so that no part of a run sees one.

mod gate;
mod of_papers;
mod resolved;

pub use crate::stations::recipe::{
    AttemptPolicy, Limits, Maintenance, Recipe, ScheduledProgram, standard,
};

#[cfg(feature = "arise")]
pub use crate::papers::arise::arise;
#[cfg(feature = "hisme")]
pub use crate::papers::hisme::{hisme, hisme_robust};
#[cfg(feature = "scribe")]
pub use crate::papers::scribe::scribe;
#[cfg(feature = "skillos")]
pub use crate::papers::skillos::skillos;
#[cfg(feature = "skillrl")]
pub use crate::papers::skillrl::skillrl;
