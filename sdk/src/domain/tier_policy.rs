//! The policy of a library's tiers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The policy of the two tiers (ARISE C.2, Table 3).
///
/// ```
/// use journeyman::recipe;
///
/// let mut recipe = recipe::standard();
/// recipe.tiers.cache = 50; // skills that are offered
/// recipe.tiers.traces = 100; // attempts that are kept
/// recipe.validate()?;
/// recipe.tiers.beta = 1.0;
/// assert!(recipe.validate().is_err(), "an average that ignores what is new");
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierPolicy {
    /// Greatest number of skills in the cache, the pool that is offered; at least 1. The paper: 10.
    pub cache: usize,
    /// Greatest number of skills in the reservoir. The paper: 100.
    pub reservoir: usize,
    /// The moving average's weight of the past, in [0, 1). The paper: 0.9.
    pub beta: f64,
    /// Initial utility of a new skill; finite. The paper: 0.
    pub initial_utility: f64,
    /// Number of credits before a version can leave the cache. The paper: 0. At most half of the cache (rounded down) is so
    /// protected, the skills that were added last, so that new skills that are never selected cannot displace proven ones.
    pub protected_credits: u64,
    /// The reservoir's percentile of utility under which an unused skill is deleted, in [0, 100]. The paper: 10.
    pub delete_percentile: f64,
    /// Whether loading swaps until no swap is left, or once a step.
    pub load_until_stable: bool,
    /// Number of the latest attempts that are kept for roles that work on several attempts; ours. 0 keeps none.
    #[serde(default)]
    pub traces: usize,
}

impl Default for TierPolicy {
    /// The paper's numbers; one swap a step.
    fn default() -> Self {
        Self {
            cache: 10,
            reservoir: 100,
            beta: 0.9,
            initial_utility: 0.0,
            protected_credits: 0,
            delete_percentile: 10.0,
            load_until_stable: false,
            traces: 0,
        }
    }
}

impl TierPolicy {
    /// Checks the ranges that the fields document.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub fn validate(&self) -> Result<()> {
        let percentile = self.delete_percentile;
        check(self.cache >= 1, "cache", self.cache, "at least 1")?;
        check(
            (0.0..1.0).contains(&self.beta),
            "beta",
            self.beta,
            "in [0, 1)",
        )?;
        check(
            self.initial_utility.is_finite(),
            "initial_utility",
            self.initial_utility,
            "finite",
        )?;
        check(
            (0.0..=100.0).contains(&percentile),
            "delete_percentile",
            percentile,
            "in [0, 100]",
        )
    }
}

/// Refuses a value that is out of its range, naming the field.
pub(super) fn check(
    holds: bool,
    field: &'static str,
    value: impl fmt::Display,
    range: &str,
) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::invalid(
        "LibraryChange::validate",
        format!("{field} must be {range}, and is {value}"),
    ))
}
