//! What retrieval is asked and what it answers.

use serde::{Deserialize, Serialize};

use super::SkillRef;
use crate::id::SkillId;

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

/// A skill that may fit, with the retriever's own score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Higher is closer; comparable within one answer only.
    pub score: f64,
}
