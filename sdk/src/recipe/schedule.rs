//! What is done between tasks, and when (HiSME algorithm 1, 4.1).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// When tasks are put together and when the library is looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// How many tasks are under way at once in learning, at least 1: they select on the library as it was before the first
    /// of them, and are folded in order. HiSME runs all tasks between two meta updates so (4.1).
    pub batch: u64,
    /// After how many tasks bundles run, skills are mended and filtered (micro maintenance), at least 1. HiSME: 5.
    pub micro: u64,
    /// After how many tasks attempts are refactored and rules evolve (macro maintenance), at least 1. HiSME: 5.
    pub r#macro: u64,
    /// After how many tasks the exact information gain of the skills on offer is measured (ARISE D.3), at least 1; never where
    /// it is not given. It decides nothing, wants a scorer, and attempts that are kept (`TierPolicy::traces`). ARISE: 100.
    #[serde(default)]
    pub gain: Option<u64>,
}

impl Default for Schedule {
    /// One task after the other; maintenance each five, where the recipe has any.
    fn default() -> Self {
        Self {
            batch: 1,
            micro: 5,
            r#macro: 5,
            gain: None,
        }
    }
}

impl Schedule {
    /// # Errors
    /// `Invalid`, naming the field.
    pub(super) fn validate(&self) -> Result<()> {
        at_least_one("schedule.batch", self.batch)?;
        at_least_one("schedule.micro", self.micro)?;
        at_least_one("schedule.macro", self.r#macro)?;
        at_least_one("schedule.gain", self.gain.unwrap_or(1))
    }
}

fn at_least_one(field: &'static str, value: u64) -> Result<()> {
    if value >= 1 {
        return Ok(());
    }
    Err(Error::invalid("Recipe::validate", "the number is out of its range").with("field", field))
}
