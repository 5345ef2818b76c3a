//! What a model wrote in one turn of a rollout.

use journeyman::{Error, Result, domain::TokenId};
use serde::{Deserialize, Serialize};

pub(super) const VALIDATE: &str = "Rollout::validate";

/// One generation of a model: a prompt, and the tokens after it.
///
/// A segment stands by itself: its prompt is whole, as the model saw it. A later prompt of a rollout usually repeats the earlier
/// one with the tokens that were written after it; [`shared`](Self::shared) says how much of it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The step of the rollout, from 0. A step can have several segments. A last turn that could not be read has the number of
    /// steps.
    pub step: u32,
    /// Number of leading tokens that `prompt_ids` has in common with the segment before it: its prompt and then its tokens. 0
    /// for the first segment. Where it is the whole length of both, this segment continues the one before it.
    pub shared: usize,
    /// The prompt's tokens.
    pub prompt_ids: Vec<TokenId>,
    /// The tokens after the prompt.
    pub ids: Vec<TokenId>,
    /// The log-probability of each of `ids` in nats, by the model with the adapter at temperature 1 over the whole vocabulary,
    /// given the prompt and the tokens before. Finite, and at most 0 where the model chose the token.
    pub logprobs: Vec<f32>,
    /// For each of `ids` whether the model chose it. A token that a harness wrote is context, and is not trained on.
    pub mask: Vec<bool>,
}

impl Segment {
    /// Checks the segment, behind the one before it in a rollout of so many steps.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub(super) fn check(&self, steps: u32, before: Option<&Self>) -> Result<()> {
        let first = before.map_or(0, |before| before.step);
        check(
            "step",
            self.step >= first && self.step <= steps,
            "segments are in the order of the steps",
        )?;
        check(
            "prompt_ids",
            !self.prompt_ids.is_empty(),
            "there is no prompt",
        )?;
        check("ids", !self.ids.is_empty(), "there is no token")?;
        let mut tokens = self.prompt_ids.iter().chain(&self.ids);
        check(
            "ids",
            tokens.all(|id| *id >= 0),
            "a token's number is at least 0",
        )?;
        check(
            "logprobs",
            self.logprobs.len() == self.ids.len(),
            "there are as many log-probabilities as tokens",
        )?;
        check(
            "mask",
            self.mask.len() == self.ids.len(),
            "the mask is as long as the tokens",
        )?;
        let mut logprobs = self.logprobs.iter().zip(&self.mask);
        check(
            "logprobs",
            logprobs.all(|(logprob, chosen)| logprob.is_finite() && (*logprob <= 0.0 || !chosen)),
            "a log-probability is finite, and at most 0 where the model chose the token",
        )?;
        let shared = before.map_or(0, |before| shared(before, &self.prompt_ids));
        check(
            "shared",
            self.shared == shared,
            "the number of shared tokens is not what the segment before it gives",
        )
    }
}

/// Number of leading tokens that a prompt has in common with the segment before it.
pub(super) fn shared(before: &Segment, prompt: &[TokenId]) -> usize {
    let earlier = before.prompt_ids.iter().chain(&before.ids);
    let same = earlier.zip(prompt).take_while(|(one, other)| one == other);
    same.count()
}

/// # Errors
/// `Invalid` with the rule, if it does not hold.
pub(super) fn check(field: &'static str, holds: bool, rule: &'static str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::invalid(VALIDATE, rule).with("field", field)),
    }
}
