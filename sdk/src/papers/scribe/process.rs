//! The reward of process and outcome together (SCRIBE 4).

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    policy::{JudgedAttempt, PolicyOptions, RewardRule},
    stations::reward::HierarchicalReward,
};

/// Rewards an attempt by its process score and its outcome together (SCRIBE 4): the reward rule `process`. The process score comes
/// from [`Recipe::assess`](crate::recipe::Recipe::assess). In the warm-up the reward is that of the task alone, one of the
/// [levels](Self::with_levels).
///
/// The weights of the process score and of the outcome are finite and not negative, and one of them is positive. The default is the
/// paper's: 0.3 and 0.7 (SCRIBE 4).
///
/// ```
/// use journeyman::{recipe, papers::scribe::ProcessReward};
///
/// let reward = ProcessReward::default();
/// assert_eq!(reward.of(Some(0.5), true), 0.3 * 0.5 + 0.7);
/// // Without a process score the outcome counts for both.
/// assert_eq!((reward.of(None, true), reward.of(None, false)), (1.0, 0.0));
/// assert!(ProcessReward::new(-0.3, 0.7).is_err());
///
/// let mut recipe = recipe::scribe();
/// recipe.reward.by = ProcessReward::new(0.5, 0.5)?.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct ProcessReward {
    process: f64,
    outcome: f64,
    levels: HierarchicalReward,
}

impl ProcessReward {
    /// Weights of process and outcome.
    ///
    /// # Errors
    /// `Invalid` for a weight that is negative or not finite, and where both are 0.
    pub fn new(process: f64, outcome: f64) -> Result<Self> {
        let sound = |weight: f64| weight.is_finite() && weight >= 0.0;
        if sound(process) && sound(outcome) && process + outcome > 0.0 {
            return Ok(Self {
                process,
                outcome,
                levels: HierarchicalReward::default(),
            });
        }
        Err(Error::invalid(
            "ProcessReward::new",
            "the weights must be finite and not negative, and one of them positive",
        )
        .with("process", process)
        .with("outcome", outcome))
    }

    /// With these levels, of which r0 and r1 are the rewards of the warm-up. The default: 0 and 1.
    #[must_use]
    pub fn with_levels(mut self, levels: HierarchicalReward) -> Self {
        self.levels = levels;
        self
    }

    /// The weights of process and outcome.
    pub fn weights(&self) -> [f64; 2] {
        [self.process, self.outcome]
    }

    /// The reward of an attempt with this process score in [0, 1]: from 0 to the sum of both weights, 1 by default. Without one the outcome counts for both.
    pub fn of(&self, process: Option<f64>, success: bool) -> f64 {
        let outcome = f64::from(u8::from(success));
        self.process * process.unwrap_or(outcome) + self.outcome * outcome
    }
}

impl Default for ProcessReward {
    fn default() -> Self {
        Self {
            process: 0.3,
            outcome: 0.7,
            levels: HierarchicalReward::default(),
        }
    }
}

impl PolicyOptions for ProcessReward {
    const NAME: &'static str = "process";
}

impl RewardRule for ProcessReward {
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        let reward = |success| match attempt.warming_up {
            true => self.levels.binary(success),
            false => self.of(attempt.report.process, success),
        };
        Ok(attempt.verdict.success().map(reward))
    }

    fn needs_assessment(&self) -> bool {
        true
    }
}

/// The weights and levels as JSON has them.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Unchecked {
    process: f64,
    outcome: f64,
    levels: HierarchicalReward,
}

impl Default for Unchecked {
    fn default() -> Self {
        ProcessReward::default().into()
    }
}

impl TryFrom<Unchecked> for ProcessReward {
    type Error = Error;

    fn try_from(unchecked: Unchecked) -> Result<Self> {
        let weights = Self::new(unchecked.process, unchecked.outcome)?;
        Ok(weights.with_levels(unchecked.levels))
    }
}

impl From<ProcessReward> for Unchecked {
    fn from(reward: ProcessReward) -> Self {
        Self {
            process: reward.process,
            outcome: reward.outcome,
            levels: reward.levels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::Verdict, policy::Policy, testing::sample};

    #[test]
    fn weights_are_checked() {
        let check = |process: f64, outcome: f64, valid: bool| {
            let weights = ProcessReward::new(process, outcome);
            assert_eq!(weights.is_ok(), valid, "{process} {outcome}");
            let mut policy = Policy::from(ProcessReward::default());
            policy.options["process"] = process.into();
            policy.options["outcome"] = outcome.into();
            let read = policy.read::<ProcessReward>();
            assert_eq!(read.ok(), weights.ok().map(Some), "{process} {outcome}");
        };
        check(0.3, 0.7, true);
        check(0.0, 1.0, true);
        check(2.0, 0.0, true);
        check(0.0, 0.0, false);
        check(-0.1, 1.0, false);
        check(f64::NAN, 1.0, false);
        check(1.0, f64::INFINITY, false);
    }

    #[test]
    fn a_failure_with_a_good_process_is_below_a_success_with_a_bad_one() {
        let reward = ProcessReward::default();
        assert!(reward.of(Some(1.0), false) < reward.of(Some(0.0), true));
    }

    #[test]
    fn the_warm_up_has_the_reward_of_the_task_alone() {
        let mut report = sample::attempt_report("a", &[], true);
        report.process = Some(0.5);
        let levels = HierarchicalReward::new(-1.0, 3.0, 4.0).unwrap();
        let rule = ProcessReward::default().with_levels(levels);
        let check = |warming_up: bool, verdict: &Verdict, expect: Option<f64>| {
            let attempt = JudgedAttempt {
                warming_up,
                ..JudgedAttempt::new(&report, verdict)
            };
            assert_eq!(rule.reward(&attempt).unwrap(), expect);
        };
        let (done, failed) = (Verdict::binary(true), Verdict::binary(false));
        check(false, &done, Some(0.3 * 0.5 + 0.7));
        check(true, &done, Some(3.0));
        check(true, &failed, Some(-1.0));
        check(false, &Verdict::undecided(), None);
    }
}
