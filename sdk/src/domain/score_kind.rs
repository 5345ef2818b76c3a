//! The kinds of a skill's score (row A2).

use serde::{Deserialize, Serialize};

/// How a skill's score is computed from log-probabilities.
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
    /// Query likelihood: log p(query given skill) - log p(query), nats, of the query's first 64 tokens: how much likelier the skill makes
    /// the query (Ponte and Croft, SIGIR 1998; with language models as in Sachan et al., arXiv 2204.07496). 0 means that they are
    /// independent. All candidates are compared on the same words, those of the query; and what a model has read of a skill, it need
    /// not read again for the next query. The best of these scores for models that were not trained to have skills scored.
    QueryLikelihood,
    /// The model is asked whether the skill fits: log p("it fits" given query and skill) - log p("it does not"), nats, in the
    /// words of the dialect ([`FitQuestion`](crate::contract::FitQuestion)). 0 means that both answers are equally likely.
    /// The model reads each candidate, where the other scores share one prompt. Ours.
    Fits,
}

impl ScoreKind {
    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Pmi => "pmi",
            Self::QueryLikelihood => "query_likelihood",
            Self::Fits => "fits",
        }
    }
}
