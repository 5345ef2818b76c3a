//! The kinds of a skill's score (row A2).

use serde::{Deserialize, Serialize};

/// How a skill's score is computed from log-probabilities.
///
/// ```
/// use journeyman::{domain::ScoreKind, recipe};
///
/// let gate = recipe::standard().gate().expect("it decides by one");
/// assert_eq!(gate.score, ScoreKind::Pmi);
/// assert_eq!(ScoreKind::Pmi.name(), "pmi");
/// ```
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
    /// PMI of a skill's first 32 tokens: its name and the beginning of its description. By these a model knows a skill that was not
    /// trained to have skills scored; what stands behind them adds more noise than it tells. Ours.
    CardPmi,
    /// The model is asked whether the skill fits: log p("it fits" given query and skill) - log p("it does not"), nats, in the
    /// words of the prompt format ([`FitQuestion`](crate::contract::FitQuestion)). 0 means that both answers are equally likely.
    /// The model reads each candidate, where the other scores share one prompt. Ours.
    Fits,
}

impl ScoreKind {
    /// Tokens of a skill's text that are scored, where a recipe has so many scored at most.
    pub(crate) fn tokens(self, most: usize) -> usize {
        match self {
            Self::CardPmi => most.min(32),
            _ => most,
        }
    }

    /// Whether a skill's text is also scored by itself.
    pub(crate) fn is_pmi(self) -> bool {
        matches!(self, Self::Pmi | Self::CardPmi)
    }

    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Pmi => "pmi",
            Self::CardPmi => "card_pmi",
            Self::Fits => "fits",
        }
    }
}
