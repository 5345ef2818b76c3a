//! The hierarchical reward (ARISE 3.1, Table 6).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Three rewards, `r0 < r1 < r2`: failed, solved unaided, solved with a skill (ARISE Table 6). The paper, and
/// the default: 0, 1, 2.
///
/// ```
/// use journeyman::reward::HierarchicalReward;
///
/// let reward = HierarchicalReward::default();
/// assert_eq!(reward.of(true, true), 2.0);
/// assert_eq!(reward.of(false, true), 0.0);
/// assert!(HierarchicalReward::new(0.0, 2.0, 1.0).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "[f64; 3]", into = "[f64; 3]")]
pub struct HierarchicalReward {
    failed: f64,
    unaided: f64,
    with_skill: f64,
}

impl HierarchicalReward {
    /// Three finite rewards, each greater than the one before.
    ///
    /// # Errors
    /// `Invalid` if one is not finite or not greater than the one before.
    pub fn new(r0: f64, r1: f64, r2: f64) -> Result<Self> {
        // Strictly rising numbers between finite ends are finite, and a comparison with NaN is false.
        if r0.is_finite() && r2.is_finite() && r0 < r1 && r1 < r2 {
            return Ok(Self {
                failed: r0,
                unaided: r1,
                with_skill: r2,
            });
        }
        Err(Error::invalid(
            "HierarchicalReward::new",
            format!("the rewards must be finite with r0 < r1 < r2, and are {r0}, {r1}, {r2}"),
        ))
    }

    /// The reward of an attempt: `r0` for a failure, `r1` for a success without a skill, `r2` for a success with one.
    pub fn of(&self, success: bool, skill_used: bool) -> f64 {
        match (success, skill_used) {
            (false, _) => self.failed,
            (true, false) => self.unaided,
            (true, true) => self.with_skill,
        }
    }

    /// The reward of the task alone, `r0` or `r1`: for the warm-up (3.2), and for the ablation without the bonus for
    /// skills (Table 2 (a)).
    pub fn binary(&self, success: bool) -> f64 {
        self.of(success, false)
    }
}

impl Default for HierarchicalReward {
    fn default() -> Self {
        Self {
            failed: 0.0,
            unaided: 1.0,
            with_skill: 2.0,
        }
    }
}

impl TryFrom<[f64; 3]> for HierarchicalReward {
    type Error = Error;
    fn try_from([r0, r1, r2]: [f64; 3]) -> Result<Self> {
        Self::new(r0, r1, r2)
    }
}

impl From<HierarchicalReward> for [f64; 3] {
    fn from(reward: HierarchicalReward) -> Self {
        [reward.failed, reward.unaided, reward.with_skill]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_6() {
        let check = |success, skill, expect| {
            assert_eq!(HierarchicalReward::default().of(success, skill), expect);
        };
        check(false, false, 0.0);
        check(true, false, 1.0);
        check(false, true, 0.0);
        check(true, true, 2.0);
    }

    #[test]
    fn warm_up_is_binary() {
        let reward = HierarchicalReward::new(-1.0, 0.5, 3.0).unwrap();
        assert_eq!([reward.binary(false), reward.binary(true)], [-1.0, 0.5]);
    }

    #[test]
    fn only_finite_rising_rewards() {
        let check = |rewards: [f64; 3], valid| {
            assert_eq!(
                HierarchicalReward::try_from(rewards).is_ok(),
                valid,
                "{rewards:?}"
            );
        };
        check([0.0, 1.0, 2.0], true);
        check([-5.0, 0.0, 1e9], true);
        check([0.0, 0.0, 1.0], false);
        check([0.0, 1.0, 1.0], false);
        check([1.0, 0.0, 2.0], false);
        check([f64::NAN, 1.0, 2.0], false);
        check([0.0, f64::NAN, 2.0], false);
        check([0.0, 1.0, f64::INFINITY], false);
        check([f64::NEG_INFINITY, 1.0, 2.0], false);
    }

    #[test]
    fn json_is_checked() {
        let json = serde_json::to_string(&HierarchicalReward::default()).unwrap();
        assert_eq!(json, "[0.0,1.0,2.0]");
        assert_eq!(
            serde_json::from_str::<HierarchicalReward>(&json).unwrap(),
            HierarchicalReward::default()
        );
        assert!(serde_json::from_str::<HierarchicalReward>("[2,1,0]").is_err());
    }
}
