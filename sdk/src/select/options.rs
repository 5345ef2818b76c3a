//! Which skills go to selection, and how often it is made.

use serde::{Deserialize, Serialize};

use super::Selector;
use crate::{
    error::{Error, Result},
    retrieve::RankWeights,
};

/// Which skills go to selection.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidates {
    /// Every skill of the cache (ARISE).
    Cache,
    /// Those of the cache that the retriever ranks first.
    Search {
        /// How many at most.
        limit: usize,
    },
}

/// How often selection is made.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectPer {
    /// Once a query (ARISE A.2).
    Query,
    /// Once a rollout (Algorithm 1's z_i): exploration then differs within a group.
    Rollout,
    /// Once a turn of the agent (HiSME appendix B): for the first turn from the task, for each later one from what is asked
    /// for then: the current request, what was refused lately, what the agent said last, the tools in force. A turn that
    /// asks for the same has the same skills.
    Turn,
}

/// How skills are found for a query and chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectPolicy {
    /// Which skills go to selection.
    pub candidates: Candidates,
    /// How what was found is ranked anew, by meaning, tools and trust beside words (HiSME Eq. 20); as the retriever did where
    /// it is not given.
    #[serde(default)]
    pub rank: Option<RankWeights>,
    /// Which of them is injected, if any.
    pub selector: Selector,
    /// How often that is decided.
    pub per: SelectPer,
    /// How many tokens of a prompt the texts of injected skills may take together, by the host's tokenizer; a skill
    /// that does not fit whole is left out. `None` sets no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_tokens: Option<usize>,
}

impl SelectPolicy {
    /// Checks every number.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub fn validate(&self) -> Result<()> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("Recipe::validate", rule).with("field", field))
        };
        if self.skill_tokens == Some(0) {
            return invalid(
                "select.skill_tokens",
                "the budget must be at least 1 token; `Selector::Nothing` injects nothing",
            );
        }
        if let Candidates::Search { limit: 0 } = self.candidates {
            return invalid("select.candidates", "the limit must be at least 1");
        }
        if let Some(weights) = &self.rank {
            weights.validate()?;
        }
        match &self.selector {
            Selector::Gate(policy) => policy.validate(),
            Selector::Top { limit: 0 } => {
                invalid("select.selector", "the limit must be at least 1")
            }
            _ => Ok(()),
        }
    }
}
