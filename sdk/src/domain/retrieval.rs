//! How a recipe finds candidates: their bound, their ranking, and how often skills are selected. The public paths are those of
//! [`select`](crate::stations::select) and [`retrieve`](crate::stations::retrieve).

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{DecidedOn, gate_policy::SelectorGate},
    error::{Error, Result},
    id::Category,
};

/// Which skills are candidates.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidates {
    /// Every skill of the cache (ARISE).
    Cache,
    /// Those of the cache that the retriever ranks first.
    Search {
        /// Greatest number of candidates.
        limit: NonZeroUsize,
    },
}

/// How often skills are selected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectPer {
    /// Once per query (ARISE A.2).
    Query,
    /// Once per rollout (ARISE Algorithm 1's z_i): exploration then differs within a group.
    Rollout,
    /// Once per turn of the agent (HiSME appendix B). The first turn's query is the task. A later turn's query
    /// ([`turn_query`](crate::stations::retrieve::turn_query())) has the current request, the latest refusals, the agent's last message,
    /// the tools that earlier turns called, and the tools in force. Turns with equal queries have the same skills.
    Turn,
}

/// The weights of Eq. 20, each finite and not negative. The paper does not publish its weights.
///
/// ```
/// use journeyman::{recipe, stations::retrieve::RankWeights};
///
/// let mut recipe = recipe::hisme_robust();
/// let mut weights = RankWeights::default();
/// weights.dense = 0.0; // no embedder
/// recipe.select.rank = Some(weights);
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankWeights {
    /// Weight of the score by words that the query and the skill share.
    pub sparse: f64,
    /// Weight of the cosine of their embeddings, where the host has an embedder.
    pub dense: f64,
    /// Weight of the share of the skill's tools that are in force, and of whether its category is the task's.
    pub tools: f64,
    /// Weight of the skill's state and of the judgements of its attempts.
    pub trust: f64,
}

impl Default for RankWeights {
    /// 0.5, 0.25, 0.15 and 0.1: relevance to the query decides; tools and trust order skills of similar relevance.
    fn default() -> Self {
        Self {
            sparse: 0.5,
            dense: 0.25,
            tools: 0.15,
            trust: 0.1,
        }
    }
}

impl RankWeights {
    /// Checks that each weight is finite and not negative, and at least one is positive.
    ///
    /// # Errors
    /// `Invalid` where they are not.
    pub fn validate(&self) -> Result<()> {
        let all = [self.sparse, self.dense, self.tools, self.trust];
        let sound = all
            .iter()
            .all(|weight| weight.is_finite() && *weight >= 0.0);
        if sound && all.iter().any(|weight| *weight > 0.0) {
            return Ok(());
        }
        Err(Error::invalid(
            "RankWeights::validate",
            "the weights must be finite and not negative, and one of them positive",
        ))
    }
}

/// How a recipe finds and ranks candidates, and how often it selects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Retrieval {
    pub(crate) candidates: Candidates,
    pub(crate) rank: Option<RankWeights>,
    pub(crate) per: SelectPer,
}

impl Retrieval {
    /// Which skill a gate decides about with a model that was not trained to score. `found` is the number of candidates, or of those that
    /// a search does not look for: a bank's general skills. A ranking by weights is on another scale than the search, and a relative
    /// test compares candidates.
    pub(crate) fn decided_on(&self, gate: &SelectorGate<'_>, found: usize) -> DecidedOn {
        let first = self.rank.is_none() && gate.policy.relative.is_none();
        match (gate.own_candidates, self.candidates) {
            (Some(limit), _) => DecidedOn::BestOf(limit.get() + found),
            // Without a retriever there may be more.
            (None, Candidates::Search { limit }) if first => DecidedOn::First {
                among: limit.get().max(found),
            },
            (None, Candidates::Search { limit }) => DecidedOn::BestOf(limit.get().max(found)),
            (None, Candidates::Cache) => DecidedOn::BestOf(found),
        }
    }
}

/// A turn's query: its text, the tools in force, and the task's category.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnQuery {
    /// The current request, then the latest refusals, then the agent's last message and the tools of earlier turns.
    pub text: String,
    /// The names of the tools in force.
    pub tools: Vec<String>,
    /// The category of the task, as the host gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
}
