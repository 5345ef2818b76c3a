//! What retrieval is asked and what it answers.

use serde::{Deserialize, Serialize};

use super::{Skill, SkillRef};
use crate::id::{CommitKey, Revision, SkillId};

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

/// A skill that may fit, with the retriever's own score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Higher is closer; comparable within one answer only.
    pub score: f64,
}
