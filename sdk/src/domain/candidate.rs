//! Queries and candidates of retrieval.

use serde::{Deserialize, Serialize};

use super::SkillRef;
use crate::id::SkillId;

/// A question to a [`Retriever`](crate::contract::Retriever).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The text to match: the task's instruction, or a turn's query.
    pub text: String,
    /// Greatest number of candidates.
    pub limit: usize,
    /// Search among these skills only, where given; an empty list finds nothing.
    pub among: Option<Vec<SkillId>>,
}

/// A skill that may fit a query, with the retriever's score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The skill, in its version.
    pub skill: SkillRef,
    /// Higher is closer; comparable within one answer, and between answers where the retriever says so
    /// ([`Retriever::has_comparable_scores`](crate::contract::Retriever::has_comparable_scores)).
    pub score: f64,
}
