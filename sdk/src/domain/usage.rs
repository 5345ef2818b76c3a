//! Tokens spent.

use serde::{Deserialize, Serialize};

/// Tokens spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompts, each turn's whole prompt counted once by its last generation.
    pub prompt_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
}

impl Usage {
    /// Adds more tokens. Counts may come from another program, so a sum that is too great stays at `u64::MAX`.
    pub fn add(&mut self, more: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(more.prompt_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
    }

    /// Prompt and output together, at most `u64::MAX`.
    pub fn total(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.output_tokens)
    }
}
