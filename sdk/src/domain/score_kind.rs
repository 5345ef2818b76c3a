//! The three kinds of a skill's score (row A2).

use serde::{Deserialize, Serialize};

/// How a skill's score is computed from its log-probabilities.
#[non_exhaustive]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// log p(skill given query), nats (ARISE Eq. 2). Favors short skills.
    Sum,
    /// The sum by the number of tokens, nats a token (ARISE's reference code).
    Mean,
    /// Pointwise mutual information, log p(skill given query) - log p(skill), nats: how much likelier the query
    /// makes the skill. 0 means that they are independent. Ours.
    #[default]
    Pmi,
}

impl ScoreKind {
    /// Whether the score needs the skill's log-probability behind an empty query as well.
    pub fn needs_unconditional(self) -> bool {
        self == Self::Pmi
    }
}
