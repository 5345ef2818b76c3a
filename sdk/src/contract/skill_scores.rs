//! The log-probabilities of skills.

use serde::{Deserialize, Serialize};

use super::TokenScores;
use crate::{
    domain::{ScoreKind, SkillRef},
    error::{Error, Result},
};

/// The log-probability of a text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// The sum over its tokens, nats; finite.
    pub sum: f64,
    /// Number of tokens that were scored, after the cut.
    pub tokens: usize,
}

impl From<&TokenScores> for Total {
    fn from(scores: &TokenScores) -> Self {
        Self {
            sum: scores.sum(),
            tokens: scores.logprobs.len(),
        }
    }
}

/// The log-probabilities of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillScores {
    /// The skill, in its version.
    pub skill: SkillRef,
    /// The skill's log-probability after the query.
    pub conditional: Total,
    /// The skill's log-probability after the same template with an empty query. It depends only on the skill's version and
    /// the model, so it can be kept. [`ScoreKind::Pmi`] needs it.
    pub unconditional: Option<Total>,
}

impl SkillScores {
    /// The score of a kind; `None` for PMI without the unconditional part, and where no token was scored: a sum over
    /// nothing would be the largest that there can be.
    pub fn value(&self, kind: ScoreKind) -> Option<f64> {
        let Total { sum, tokens } = self.conditional;
        match kind {
            _ if tokens == 0 => None,
            ScoreKind::Sum => Some(sum),
            ScoreKind::Mean => Some(sum / tokens as f64),
            ScoreKind::Pmi => self.unconditional.map(|alone| sum - alone.sum),
        }
    }

    /// The score of a kind, checked.
    ///
    /// # Errors
    /// `Invalid`, naming the skill, where nothing of it was scored, the unconditional part is missing or a number is not
    /// finite.
    pub(crate) fn checked(&self, kind: ScoreKind) -> Result<f64> {
        let fault = |message| {
            Error::invalid("select::decide", message)
                .with("skill", &self.skill.id)
                .with("version", self.skill.version)
        };
        if self.conditional.tokens == 0 {
            return Err(fault("the scorer scored no token of the skill")
                .hint("give the skill a text, and check that the scorer's tokenizer reads it"));
        }
        let value = self
            .value(kind)
            .ok_or_else(|| fault("PMI needs the skill's log-probability without the query"))?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(fault("the score is not a finite number")
                .hint("the scorer's log-probabilities must be finite"))
        }
    }
}
