//! What a commit did to the library.

use serde::{Deserialize, Serialize};

use crate::{
    domain::{SkillName, SkillRef},
    error::Result,
    id::Revision,
};

/// What a commit did to the library: for progress events and for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The revision after it.
    pub revision: Revision,
    /// What moved, in the order in which it did.
    pub moves: Vec<Move>,
    /// What had no effect, and why.
    pub passed_over: Vec<PassedOver>,
}

/// A skill that came, moved or went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Which skill, in its version after the move.
    pub skill: SkillRef,
    /// The name under which the library keeps (or kept) it.
    pub name: SkillName,
    /// What happened.
    pub operation: Operation,
}

/// What can happen to a skill.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// New, into the cache, or aside where its state is not offered.
    Added,
    /// A new version took the place of the last.
    Revised,
    /// New, made of others.
    Merged,
    /// An earlier version came back, as a new one.
    RolledBack,
    /// Deleted, and there again.
    Restored,
    /// A text was taken out of its versions.
    Erased,
    /// To the other tier, as somebody asked.
    Placed,
    /// From the cache to the reservoir, the cache being over its size.
    Evicted,
    /// From the reservoir to the cache.
    Loaded,
    /// From the cache to the reservoir, to make room for a loaded one.
    SwappedOut,
    /// Removed: low and never used.
    Deleted,
    /// Removed: the lowest of a reservoir over its size.
    Overflowed,
    /// Out of its tier, no longer offered.
    SetAside,
    /// Into the cache, offered from here on.
    Released,
}

/// A change that had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Its place in the commit, from 0.
    pub change: usize,
    /// Why.
    pub reason: PassReason,
}

/// Why a change had no effect.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassReason {
    /// No skill of this id was ever there.
    Unknown,
    /// The skill was deleted.
    Deleted,
    /// A credit for a version that is not the current one.
    OtherVersion,
    /// A credit whose skill and attempt were credited before.
    SeenBefore,
    /// An added skill whose id is there already.
    IdTaken,
    /// A version that is not later than the one that is there.
    NotLater,
    /// A version that the skill never had.
    NoSuchVersion,
    /// A skill to restore that is not deleted.
    NotDeleted,
    /// A skill to place whose state is not an offered one.
    NotOffered,
    /// A release of a skill that is not on trial.
    NotOnTrial,
    /// A merge of which no source is there.
    NoSource,
}

/// What one change did: its moves, or why it had no effect.
pub(super) type Outcome = Result<Vec<Move>, PassReason>;
