//! Three scores of one skill (row A2).

use serde::{Deserialize, Serialize};

/// What a skill's log-probabilities are made into.
#[non_exhaustive]
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// log p(skill given query), nats (ARISE Eq. 2). Favours short skills.
    Sum,
    /// The sum by the number of tokens, nats a token (ARISE's reference code).
    Mean,
    /// Pointwise mutual information, log p(skill given query) - log p(skill), nats: how much likelier the query
    /// makes the skill. 0 says that they have nothing to do with each other. Ours.
    #[default]
    Pmi,
}

impl ScoreKind {
    /// Whether the score needs the skill's log-probability behind an empty query as well.
    pub fn needs_unconditional(self) -> bool {
        self == Self::Pmi
    }
}
