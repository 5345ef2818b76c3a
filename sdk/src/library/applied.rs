//! The effects of a commit on the library.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{SkillName, SkillRef},
    error::Result,
    id::Revision,
};

/// The effects of a commit on the library, for progress events and for people.
///
/// ```
/// use journeyman::{
///     domain::LibraryChange,
///     library::{Operation, SkillLibrary},
///     testing::sample,
/// };
///
/// let mut library = SkillLibrary::new();
/// let skill = sample::skill("close-ticket");
/// let add = || LibraryChange::Add(Box::new(skill.clone()));
/// let first = library.apply(&sample::committed(1, vec![add()]))?;
/// assert_eq!(first.moves[0].operation, Operation::Added);
/// // The library has this version already.
/// let second = library.apply(&sample::committed(2, vec![add()]))?;
/// assert_eq!((second.moves.len(), second.passed_over.len()), (0, 1));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The revision after it.
    pub revision: Revision,
    /// The moves of skills, in order.
    pub moves: Vec<Move>,
    /// The changes without effect.
    pub passed_over: Vec<PassedOver>,
}

/// A skill that was added, moved or removed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Which skill, in its version after the move.
    pub skill: SkillRef,
    /// The name under which the library keeps (or kept) it.
    pub name: SkillName,
    /// The kind of the move.
    pub operation: Operation,
}

/// The kinds of a skill's moves.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// New, into the cache, or aside where its state is not offered.
    Added,
    /// A new version replaced the last.
    Revised,
    /// New, merged from others.
    Merged,
    /// An earlier version became the current one, as a new version.
    RolledBack,
    /// Restored after it was deleted.
    Restored,
    /// A text was removed from its versions.
    Erased,
    /// To the other tier, by a change [`Place`](crate::domain::LibraryChange::Place).
    Placed,
    /// From the cache to the reservoir, because the cache was over its size.
    Evicted,
    /// From the reservoir to the cache.
    Loaded,
    /// From the cache to the reservoir, to make room for a loaded one.
    SwappedOut,
    /// Removed: below the percentile of utility and never used.
    Deleted,
    /// Removed: the lowest of a reservoir over its size.
    Overflowed,
    /// Out of its tier, no longer offered.
    SetAside,
    /// Into the cache, offered from here on.
    Released,
}

/// A change that had no effect.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// The change's index in the commit, from 0.
    pub change: usize,
    /// Why.
    pub reason: PassReason,
}

/// Why a change had no effect.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassReason {
    /// The library never had a skill of this id.
    Unknown,
    /// The skill was deleted.
    Deleted,
    /// A credit for a version that is not the current one.
    OtherVersion,
    /// A credit whose skill and attempt were credited before.
    SeenBefore,
    /// An added skill whose id is taken.
    IdTaken,
    /// A version that is not later than the current one.
    NotLater,
    /// A version that the skill never had.
    NoSuchVersion,
    /// A skill to restore that is not deleted.
    NotDeleted,
    /// A skill to place whose state is not an offered one.
    NotOffered,
    /// A release of a skill that is not on trial, and that does not await evidence in quarantine.
    NotOnTrial,
    /// A merge without a source in the library.
    NoSource,
}

impl fmt::Display for PassReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "the library never had the skill",
            Self::Deleted => "the skill was deleted",
            Self::OtherVersion => "the skill has another version now",
            Self::SeenBefore => "the attempt was credited before",
            Self::IdTaken => "another skill has the id",
            Self::NotLater => "the skill has this version or a later one",
            Self::NoSuchVersion => "the skill never had this version",
            Self::NotDeleted => "the skill is not deleted",
            Self::NotOffered => "the skill is not in use",
            Self::NotOnTrial => "the skill is not on trial",
            Self::NoSource => "none of the merged skills is in the library",
        })
    }
}

/// The moves of one change, or why it had no effect.
pub(super) type Outcome = Result<Vec<Move>, PassReason>;
