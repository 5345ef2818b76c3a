//! The options of an agent driven by a language model.

use std::time::Duration;

use crate::{
    contract::ModelCapabilities,
    domain::Sampling,
    error::{Error, Result},
    id::Seed,
};

/// Options of a [`ModelExecutor`](crate::agent::ModelExecutor).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct ModelExecutorOptions {
    /// The greatest number of steps of an attempt, those of a replayed prefix included; at least 1.
    pub max_steps: u32,
    /// Time limit of one generation, above 0; more for a model that was measured to need more
    /// ([`ModelCapabilities::time_limit`](crate::contract::ModelCapabilities::time_limit)). The attempt's own limit applies where
    /// it is shorter.
    pub generation_time: Duration,
    /// The nucleus (top-p) for an attempt whose temperature is above 0; in (0, 1].
    pub top_p: f32,
    /// Whether the steps keep generation records for a trainer (token ids and log-probabilities), where the model gives them.
    pub record: bool,
}

impl Default for ModelExecutorOptions {
    /// 16 steps, one minute for each generation, a nucleus of 0.95, no records.
    fn default() -> Self {
        Self {
            max_steps: 16,
            generation_time: Duration::from_secs(60),
            top_p: 0.95,
            record: false,
        }
    }
}

/// Tokens of a long answer, for the time limit of a slow model.
const ANSWER_TOKENS: usize = 1_024;

impl ModelExecutorOptions {
    /// With the time for a generation that the model needs at least.
    pub(super) fn for_model(mut self, capabilities: &ModelCapabilities) -> Self {
        self.generation_time = capabilities.time_limit(self.generation_time, ANSWER_TOKENS);
        self
    }

    /// The sampling of a generation at this temperature.
    pub(super) fn sampling(&self, temperature: f32, seed: Seed) -> Sampling {
        Sampling {
            temperature,
            top_p: if temperature > 0.0 { self.top_p } else { 1.0 },
            seed,
        }
    }

    /// Checks the ranges that the fields document.
    pub(super) fn validate(&self) -> Result<()> {
        let refuse = |message: &str, hint: &str| {
            Err(Error::invalid("ModelExecutor::new", message.to_owned()).hint(hint.to_owned()))
        };
        if self.max_steps == 0 {
            return refuse("the step budget is 0", "allow at least one step");
        }
        if self.generation_time.is_zero() {
            return refuse(
                "the time for a generation is 0",
                "allow at least some milliseconds",
            );
        }
        if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            return refuse("the nucleus is outside (0, 1]", "1 keeps every token");
        }
        Ok(())
    }
}
