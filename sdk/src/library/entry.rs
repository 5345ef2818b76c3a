//! What the library knows of one skill.

use std::{cmp::Ordering, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    domain::Skill,
    id::{AttemptId, Revision, Version},
};

/// Where a skill is kept.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The pool that is offered.
    Cache,
    /// Offered skills that the cache has no room for.
    Reservoir,
    /// In neither: its state is not an offered one.
    Aside,
}

/// One skill with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The current version.
    pub skill: Skill,
    /// The versions before it, oldest first.
    pub history: Vec<Skill>,
    /// Where it is kept.
    pub tier: Tier,
    /// The moving average of its rewards (C.2), in the unit of the rewards; always finite.
    pub utility: f64,
    /// How many attempts were given it, in any of its versions.
    pub uses: u64,
    /// How many times this version was credited.
    pub credits: u64,
    /// The revision that added it.
    pub added_at: Revision,
    /// The attempts that were credited already, in any version.
    pub(super) seen: BTreeSet<AttemptId>,
}

/// What is kept of a skill that was removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Deleted {
    /// Its last version.
    pub(super) version: Version,
    /// The attempts that were credited, should it come back.
    pub(super) seen: BTreeSet<AttemptId>,
}

impl Entry {
    /// Lower utility first, then smaller id.
    pub(super) fn rank(&self, other: &Self) -> Ordering {
        // Utilities are finite, so they always compare; 0 and -0 are equal.
        self.utility
            .partial_cmp(&other.utility)
            .unwrap_or(Ordering::Equal)
            .then_with(|| self.skill.id.cmp(&other.skill.id))
    }
}
