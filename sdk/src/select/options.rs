//! The options of selection: candidates, ranking, selector, frequency, token budget.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::{GatePolicy, Selector};
use crate::{
    domain::DecidedOn,
    error::{Error, Result},
    retrieve::RankWeights,
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
    /// ([`turn_query`](crate::retrieve::turn_query())) has the current request, the latest refusals, the agent's last message,
    /// the tools that earlier turns called, and the tools in force. Turns with equal queries have the same skills.
    Turn,
}

/// How skills are found for a query and chosen.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{
///     recipe,
///     retrieve::RankWeights,
///     select::{Candidates, SelectPer, SelectPolicy, Selector},
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.select = SelectPolicy {
///     candidates: Candidates::Search { limit: NonZeroUsize::new(20).unwrap() },
///     rank: Some(RankWeights::default()),
///     selector: Selector::Top { limit: NonZeroUsize::MIN },
///     per: SelectPer::Turn,
///     skill_tokens: None,
/// };
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectPolicy {
    /// Which skills are candidates.
    pub candidates: Candidates,
    /// Weights by which the retriever's candidates are ranked again: meaning, tools and trust beside words (HiSME Eq. 20).
    /// `None` keeps the retriever's ranking.
    #[serde(default)]
    pub rank: Option<RankWeights>,
    /// Chooses the candidates that are injected, if any.
    pub selector: Selector,
    /// How often skills are selected.
    pub per: SelectPer,
    /// Token budget for the texts of all injected skills of a prompt, by the host's tokenizer; a skill that does
    /// not fit whole is left out. `None` sets no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_tokens: Option<NonZeroUsize>,
}

impl SelectPolicy {
    /// Which skill a gate decides about with a model that was not trained to score. `found` is the number of candidates, or of those that
    /// a search does not look for: a bank's general skills. A ranking by weights is on another scale than the search, and a relative
    /// test compares candidates.
    pub(crate) fn decided_on(&self, found: usize) -> DecidedOn {
        let is_relative = |gate: &GatePolicy| gate.relative.is_some();
        let first = self.rank.is_none() && !self.selector.gate().is_some_and(is_relative);
        match (&self.selector, self.candidates) {
            (Selector::Bank(bank), _) => DecidedOn::BestOf(bank.limit.get() + found),
            // Without a retriever there may be more.
            (_, Candidates::Search { limit }) if first => DecidedOn::First {
                among: limit.get().max(found),
            },
            (_, Candidates::Search { limit }) => DecidedOn::BestOf(limit.get().max(found)),
            (_, Candidates::Cache) => DecidedOn::BestOf(found),
        }
    }

    /// Checks every number.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub fn validate(&self) -> Result<()> {
        if let Some(weights) = &self.rank {
            weights.validate()?;
        }
        let found = self.selector.gate().and_then(|gate| gate.found);
        if found.is_some() && !matches!(self.decided_on(0), DecidedOn::First { .. }) {
            let message =
                "the gate's threshold counts the score of a search, and the recipe decides by more";
            return Err(Error::invalid("SelectPolicy::validate", message)
                .hint("leave out `rank`, the bank, the cache and the relative test, or fit the threshold to one score alone (`journeyman model calibrate --score`)"));
        }
        match &self.selector {
            Selector::Gate(policy) => policy.validate(),
            Selector::Bank(_) if self.rank.is_some() => Err(Error::invalid(
                "SelectPolicy::validate",
                "a bank selects by similarity, and has no ranking by weights",
            )
            .with("field", "rank")
            .hint("set `SelectPolicy::rank` to `None`")),
            Selector::Bank(bank) => bank.validate(),
            _ => Ok(()),
        }
    }
}
