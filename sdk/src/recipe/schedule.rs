//! When tasks run in batches, and when maintenance runs (HiSME algorithm 1, 4.1; ARISE A.1, A.2, D.3).

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// When tasks run in batches, and when maintenance runs.
///
/// ```
/// use std::num::NonZeroU64;
///
/// use journeyman::{
///     recipe,
///     recipe::Schedule,
/// };
///
/// let ten = NonZeroU64::new(10).expect("not 0");
/// let mut recipe = recipe::hisme();
/// recipe.schedule = Schedule { micro: ten, r#macro: ten, ..Schedule::default() };
/// recipe.validate()?;
/// // In JSON the fields are numbers, and 0 is refused.
/// let json = r#"{"batch": 0, "micro": 10, "macro": 10}"#;
/// assert!(serde_json::from_str::<Schedule>(json).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// Number of tasks that run at once in learning: they select from the library as it was before the first of them, and
    /// their results are committed in order. HiSME runs all tasks between two meta updates so (4.1): 5. In ARISE a batch is
    /// a step (A.1, A.2): 64. In a host's own loop
    /// ([`Journeyman::begin`](crate::run::Journeyman::begin)) the host decides how many tasks run at once; `batch` then only
    /// sets how many tasks count as one step.
    pub batch: NonZeroU64,
    /// Number of tasks between two micro maintenances: bundles run, skills are refined and filtered. HiSME: 5.
    pub micro: NonZeroU64,
    /// Number of tasks between two macro maintenances: attempts are refactored and rules evolve. HiSME: 5.
    pub r#macro: NonZeroU64,
    /// Number of steps, of `batch` tasks each, between two measurements of the exact information gain of the offered skills
    /// (ARISE D.3); `None` for no measurement. The measurement decides nothing; it needs a scorer and kept attempts
    /// (`TierPolicy::traces`). ARISE: 100.
    #[serde(default)]
    pub gain: Option<NonZeroU64>,
}

impl Schedule {
    /// The number of tasks in so many steps.
    pub(crate) fn tasks(&self, steps: u64) -> u64 {
        steps.saturating_mul(self.batch.get())
    }

    /// The number of tasks between two measurements of the information gain.
    pub(crate) fn gain_tasks(&self) -> Option<NonZeroU64> {
        self.gain.map(|steps| steps.saturating_mul(self.batch))
    }
}

impl Default for Schedule {
    /// One task after the other; maintenance after each five, if the recipe has any.
    fn default() -> Self {
        let five = const { NonZeroU64::new(5).expect("not 0") };
        Self {
            batch: NonZeroU64::MIN,
            micro: five,
            r#macro: five,
            gain: None,
        }
    }
}
