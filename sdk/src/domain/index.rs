//! What an index takes in, and how it knows how far it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Skill;
use crate::{
    error::{Error, Result},
    id::{CommitKey, Revision, SkillId},
};

/// What an index takes in to get from one revision of a library to a later one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexUpdate {
    /// Which library: the key of its first commit; `None` while it has none.
    pub library: Option<CommitKey>,
    /// The revision that the index stands at, or an earlier one.
    pub since: Revision,
    /// The key of the library's commit at `since`, where the library still knows it.
    pub since_key: Option<CommitKey>,
    /// The revision that it stands at afterwards.
    pub revision: Revision,
    /// The key of the library's commit at `revision`; `None` at revision 0.
    pub key: Option<CommitKey>,
    /// The skills that came or changed in between, in their version at `revision`, by id.
    pub changed: Vec<Skill>,
    /// The skills that went in between, by id.
    pub gone: Vec<SkillId>,
}

/// Which library an index is of, and how far it is: what an index keeps beside its contents, and what it asks before it
/// takes anything in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexMark {
    library: Option<CommitKey>,
    watermark: Revision,
    /// The commits that it stood at last. A library that was put back to an earlier state and went on from there has
    /// others.
    stood_at: BTreeMap<Revision, CommitKey>,
}

impl IndexMark {
    /// How many commits a mark remembers.
    const POINTS: usize = 64;

    /// The revision of the last update taken in; 0 for an empty index.
    pub fn watermark(&self) -> Revision {
        self.watermark
    }

    /// Whether an index that stands here takes an update in, or has it already.
    ///
    /// # Errors
    /// `Invalid` for one that leaves a gap, or is of another library or of another past of this one, and is not since
    /// revision 0.
    pub fn takes(&self, update: &IndexUpdate) -> Result<bool> {
        let is_whole = update.since == Revision(0);
        let differs = |revision: Revision, key: &Option<CommitKey>| {
            let stood_at = self.stood_at.get(&revision);
            stood_at.is_some_and(|stood_at| key.as_ref().is_some_and(|key| key != stood_at))
        };
        let is_other = update.library != self.library
            || differs(update.since, &update.since_key)
            || differs(update.revision, &update.key);
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

    /// Where the index stands once it has taken an update in.
    pub fn after(&self, update: &IndexUpdate) -> Self {
        let mut mark = match update.since {
            Revision(0) => Self::default(),
            _ => self.clone(),
        };
        mark.library.clone_from(&update.library);
        mark.watermark = update.revision;
        if let Some(key) = &update.key {
            mark.stood_at.insert(update.revision, key.clone());
        }
        while mark.stood_at.len() > Self::POINTS {
            mark.stood_at.pop_first();
        }
        mark
    }
}
