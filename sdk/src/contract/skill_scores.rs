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
    /// The skill's log-probability after the query. [`ScoreKind::Fits`] alone does without it.
    pub conditional: Option<Total>,
    /// The skill's log-probability after the same template with an empty query. It depends only on the skill's version and
    /// the model, so it can be kept. [`ScoreKind::Pmi`] needs it.
    pub unconditional: Option<Total>,
    /// The log-probabilities of the two answers to the question whether the skill fits. [`ScoreKind::Fits`] needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<FitTotals>,
}

/// The log-probabilities of the two answers of a [`FitQuestion`](super::FitQuestion).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitTotals {
    /// That the skill fits.
    pub fits: Total,
    /// That it does not.
    pub does_not: Total,
}

impl SkillScores {
    /// The score of a kind; `None` where a part that it needs is missing, and where no token was scored: a sum over
    /// nothing would be the largest that there can be.
    pub fn value(&self, kind: ScoreKind) -> Option<f64> {
        let scored = |total: &Total| total.tokens > 0;
        let text = self.conditional.filter(scored);
        match kind {
            ScoreKind::Sum => text.map(|text| text.sum),
            ScoreKind::Mean => text.map(|text| text.sum / text.tokens as f64),
            ScoreKind::Pmi | ScoreKind::CardPmi => Some(text?.sum - self.unconditional?.sum),
            ScoreKind::Fits => {
                let FitTotals { fits, does_not } = self.fit?;
                (scored(&fits) && scored(&does_not)).then_some(fits.sum - does_not.sum)
            }
        }
    }

    /// The score of a kind, checked.
    ///
    /// # Errors
    /// `Invalid`, naming the skill, where nothing of it was scored, a part that the score needs is missing or a number is
    /// not finite.
    pub(crate) fn checked(&self, kind: ScoreKind) -> Result<f64> {
        let fault = |message| {
            Error::invalid("select::decide", message)
                .with("skill", &self.skill.id)
                .with("version", self.skill.version)
        };
        let value = self.value(kind).ok_or_else(|| match kind {
            _ if kind.is_pmi() && self.conditional.is_some_and(|text| text.tokens > 0) => {
                fault("PMI needs the skill's log-probability without the query")
            }
            ScoreKind::Fits => fault("no token of an answer to whether the skill fits was scored"),
            _ => fault("the scorer scored no token of the skill")
                .hint("give the skill a text, and check that the scorer's tokenizer reads it"),
        })?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(fault("the score is not a finite number")
                .hint("the scorer's log-probabilities must be finite"))
        }
    }
}
