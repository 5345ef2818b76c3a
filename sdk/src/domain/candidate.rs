//! What retrieval is asked and what it answers.

use serde::{Deserialize, Serialize};

use super::{Skill, SkillRef};
use crate::{
    error::{Error, Result},
    id::{CommitKey, Revision, SkillId},
};

/// A question to a [`Retriever`](crate::contract::Retriever).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The text to match: the task's instruction, or a turn's query.
    pub text: String,
    /// How many candidates at most.
    pub limit: usize,
    /// Only these skills, when given; an empty list finds nothing.
    pub among: Option<Vec<SkillId>>,
}

/// What an index takes in to get from one revision of a library to a later one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexUpdate {
    /// Which library: the key of its first commit; `None` while it has none.
    pub library: Option<CommitKey>,
    /// The revision that the index stands at, or an earlier one.
    pub since: Revision,
    /// The revision that it stands at afterwards.
    pub revision: Revision,
    /// The skills that came or changed in between, in their version at `revision`, by id.
    pub changed: Vec<Skill>,
    /// The skills that went in between, by id.
    pub gone: Vec<SkillId>,
}

impl IndexUpdate {
    /// Whether this brings something to an index of `library` that stands at `watermark`, or is in it already: what
    /// [`Retriever::refresh`](crate::contract::Retriever::refresh) has to ask first.
    ///
    /// # Errors
    /// `Invalid` where it leaves a gap or is of another library, and is not the whole library.
    pub fn is_new_to(&self, library: Option<&CommitKey>, watermark: Revision) -> Result<bool> {
        let is_whole = self.since == Revision(0);
        let other = self.library.as_ref() != library;
        let refused = |message: &'static str| {
            Err(Error::invalid("Retriever::refresh", message)
                .with("since", self.since)
                .with("watermark", watermark)
                .hint("bring the index to the library with `SkillLibrary::refresh`"))
        };
        if other && !is_whole {
            return refused("the index is of another library");
        }
        if self.since > watermark && !is_whole {
            return refused("the update leaves a gap");
        }
        Ok(other || self.revision > watermark)
    }
}

/// A skill that may fit, with the retriever's own score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Higher is closer; comparable within one answer only.
    pub score: f64,
}
