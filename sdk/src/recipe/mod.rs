//! Recipes: a policy for each station, and the maintenance programs, as data that a run's journal holds. A recipe names its policies
//! ([`Policy`](crate::policy::Policy)), ours like a host's own. [`standard`] is the default, [`arise`], [`hisme`], [`scribe`],
//! [`skillos`] and [`skillrl`] have the papers' numbers, [`hisme_robust`] is HiSME with options of our own; each is built in the room
//! of its paper ([`papers`](crate::papers)). [`Recipe::resolve`] builds the policies that a recipe names; it stands here, above the
//! papers, so that no part of a run sees one.

mod gate;
mod resolved;

pub use crate::{
    papers::{
        arise::arise,
        hisme::{hisme, hisme_robust},
        scribe::scribe,
        skillos::skillos,
        skillrl::skillrl,
    },
    stations::recipe::{AttemptPolicy, Limits, Maintenance, Recipe, ScheduledProgram, standard},
};
