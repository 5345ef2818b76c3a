//! Updates of an index, and the mark of the last one that it applied.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Skill;
use crate::{
    error::{Error, Result},
    id::{CommitKey, Revision, SkillId},
};

/// An update of an index from one revision of a library to a later one.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexUpdate {
    /// The library's identity: the key of its first commit; `None` while it has none.
    pub library: Option<CommitKey>,
    /// The index's revision before the update, or an earlier one.
    pub since: Revision,
    /// The index's revision after the update.
    pub revision: Revision,
    /// The keys of the library's commits that the index may have taken in: of the last ones up to `revision`, and of
    /// `since`.
    pub keys: BTreeMap<Revision, CommitKey>,
    /// The skills that were added or changed in between, in their version at `revision`, by id.
    pub changed: Vec<Skill>,
    /// The skills that were deleted in between, by id.
    pub gone: Vec<SkillId>,
}

impl IndexUpdate {
    /// An update from one revision to another that changes no skill.
    pub fn new(since: Revision, revision: Revision) -> Self {
        Self {
            library: None,
            since,
            revision,
            keys: BTreeMap::new(),
            changed: Vec::new(),
            gone: Vec::new(),
        }
    }
}

/// The library and revision of an index. An index keeps the mark beside its contents and asks it before each update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexMark {
    library: Option<CommitKey>,
    watermark: Revision,
    /// The last commits that the index applied. They differ from those of a library that was restored to an earlier state
    /// and continued.
    keys: BTreeMap<Revision, CommitKey>,
}

impl IndexMark {
    /// Greatest number of commits that a mark keeps.
    pub(crate) const KEYS: usize = 128;

    /// The revision of the last update taken in; 0 for an empty index.
    pub fn watermark(&self) -> Revision {
        self.watermark
    }

    /// Whether the index applies an update; false where it has it already. An index that is ahead applies an update from
    /// revision 0 where it no longer keeps the commits of that time, since the library may have another history.
    ///
    /// # Errors
    /// `Invalid` for an update that is not since revision 0 and leaves a gap, or is of another library or of another history
    /// of this one.
    pub fn takes(&self, update: &IndexUpdate) -> Result<bool> {
        let is_whole = update.since == Revision(0);
        let differs = |(at, key): (&Revision, &CommitKey)| {
            let kept = self.keys.get(at);
            kept.is_some_and(|kept| kept != key)
        };
        let forgotten = is_whole
            && update.revision < self.watermark
            && self
                .keys
                .keys()
                .next()
                .is_some_and(|oldest| update.revision < *oldest);
        let is_other =
            update.library != self.library || update.keys.iter().any(differs) || forgotten;
        let refused = |message: &'static str| {
            Err(Error::invalid("Retriever::refresh", message)
                .with("since", update.since)
                .with("watermark", self.watermark)
                .hint("bring the index to the library with `SkillLibrary::refresh`"))
        };
        if is_other && !is_whole {
            return refused("the index is of another library, or of one that was put back since");
        }
        if update.since > self.watermark && !is_whole {
            return refused("the update leaves a gap");
        }
        Ok(is_other || update.revision > self.watermark)
    }

    /// The mark after an update.
    pub fn after(&self, update: &IndexUpdate) -> Self {
        let mut mark = match update.since {
            Revision(0) => Self::default(),
            _ => self.clone(),
        };
        mark.library.clone_from(&update.library);
        mark.watermark = update.revision;
        let keys = update.keys.iter();
        mark.keys.extend(keys.map(|(at, key)| (*at, key.clone())));
        while mark.keys.len() > Self::KEYS {
            mark.keys.pop_first();
        }
        mark
    }
}
