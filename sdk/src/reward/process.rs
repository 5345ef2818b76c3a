//! The reward of process and outcome together (SCRIBE 4).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The weights of the process score and of the outcome in an attempt's reward, each finite and not negative, and one of them
/// positive. The default is the paper's: 0.3 and 0.7 (SCRIBE 4).
///
/// ```
/// use journeyman::reward::ProcessReward;
///
/// let reward = ProcessReward::default();
/// assert_eq!(reward.of(Some(0.5), true), 0.3 * 0.5 + 0.7);
/// // Without a process score the outcome counts for both.
/// assert_eq!((reward.of(None, true), reward.of(None, false)), (1.0, 0.0));
/// assert!(ProcessReward::new(-0.3, 0.7).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "[f64; 2]", into = "[f64; 2]")]
pub struct ProcessReward {
    process: f64,
    outcome: f64,
}

impl ProcessReward {
    /// Weights of process and outcome.
    ///
    /// # Errors
    /// `Invalid` for a weight that is negative or not finite, and where both are 0.
    pub fn new(process: f64, outcome: f64) -> Result<Self> {
        let sound = |weight: f64| weight.is_finite() && weight >= 0.0;
        if sound(process) && sound(outcome) && process + outcome > 0.0 {
            return Ok(Self { process, outcome });
        }
        Err(Error::invalid(
            "ProcessReward::new",
            "the weights must be finite and not negative, and one of them positive",
        )
        .with("process", process)
        .with("outcome", outcome))
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
        }
    }
}

impl TryFrom<[f64; 2]> for ProcessReward {
    type Error = Error;

    fn try_from([process, outcome]: [f64; 2]) -> Result<Self> {
        Self::new(process, outcome)
    }
}

impl From<ProcessReward> for [f64; 2] {
    fn from(reward: ProcessReward) -> Self {
        [reward.process, reward.outcome]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_checked() {
        let check = |process, outcome, valid| {
            let json = format!("[{process:?},{outcome:?}]");
            assert_eq!(
                ProcessReward::new(process, outcome).is_ok(),
                valid,
                "{json}"
            );
            assert_eq!(ProcessReward::try_from([process, outcome]).is_ok(), valid);
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
}
