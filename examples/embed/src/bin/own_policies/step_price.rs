//! A reward rule: steps cost.

use std::sync::Arc;

use journeyman::{
    Error, Result,
    policy::{JudgedAttempt, Policies, PolicyOptions, RewardRule},
};
use serde::{Deserialize, Serialize};

/// Rewards a done task with 1, minus a price for each step. So a skill is written from the shortest of the attempts that
/// were done, and a skill that shortens its tasks has a greater utility.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepPrice {
    /// The price of a step, in [0, 1].
    pub(crate) price: f64,
}

impl PolicyOptions for StepPrice {
    const NAME: &'static str = "step-price";

    fn validate(&self) -> Result<()> {
        match (0.0..=1.0).contains(&self.price) {
            true => Ok(()),
            false => Err(Error::invalid(Self::NAME, "the price must be in [0, 1]")),
        }
    }
}

pub(crate) fn register(policies: Policies) -> Policies {
    policies.with_reward(StepPrice::NAME, |options| {
        Ok(Arc::new(crate::options::<StepPrice>(options)?))
    })
}

impl RewardRule for StepPrice {
    /// No reward where the judge could not decide.
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        let steps = f64::from(attempt.report.steps);
        let reward = |done: bool| f64::from(u8::from(done)) - self.price * steps;
        Ok(attempt.verdict.success().map(reward))
    }
}
