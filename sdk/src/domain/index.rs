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
    /// The revision that it stands at afterwards.
    pub revision: Revision,
    /// The keys of the library's commits that the index may have taken in: of the last ones up to `revision`, and of
    /// `since`.
    pub keys: BTreeMap<Revision, CommitKey>,
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
    /// The last commits that it took in. A library that was put back to an earlier state and went on from there has
    /// others.
    keys: BTreeMap<Revision, CommitKey>,
}

impl IndexMark {
    /// How many commits a mark remembers.
    pub(crate) const KEYS: usize = 128;

    /// The revision of the last update taken in; 0 for an empty index.
    pub fn watermark(&self) -> Revision {
        self.watermark
    }

    /// Whether an index that stands here takes an update in, or has it already. The whole of a library that is behind
    /// the index is taken in where the index no longer knows what it held then: it may be of another past.
    ///
    /// # Errors
    /// `Invalid` for one that leaves a gap, or is of another library or of another past of this one, and is not since
    /// revision 0.
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

    /// Where the index stands once it has taken an update in.
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
