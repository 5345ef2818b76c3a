//! The reward in three levels (ARISE 3.1, Table 6), and the rule by which a recipe names it.

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    policy::{JudgedAttempt, PolicyOptions, RewardRule},
};

/// Rewards an attempt with one of three levels (ARISE 3.1): the reward rule `levels`. In the warm-up the reward is that of the
/// task alone.
///
/// ```
/// use journeyman::{recipe, stations::reward::LevelReward};
///
/// let mut recipe = recipe::standard();
/// let mut rule = LevelReward::default();
/// rule.binary = true;
/// recipe.reward.by = rule.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LevelReward {
    /// The three rewards, r0 < r1 < r2 (ARISE 3.1).
    pub levels: HierarchicalReward,
    /// Whether the reward is always that of the task alone, r0 or r1 (ARISE Table 2 (a)).
    pub binary: bool,
}

impl PolicyOptions for LevelReward {
    const NAME: &'static str = "levels";
}

impl RewardRule for LevelReward {
    fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
        let task_alone = self.binary || attempt.warming_up;
        let reward = |success| match task_alone {
            true => self.levels.binary(success),
            false => self.levels.of(success, attempt.used),
        };
        Ok(attempt.verdict.success().map(reward))
    }
}

// The hierarchical reward (ARISE 3.1, Table 6).

/// Three rewards, `r0 < r1 < r2`: failed, solved unaided, solved with a skill (ARISE Table 6). The paper, and
/// the default: 0, 1, 2.
///
/// ```
/// use journeyman::stations::reward::HierarchicalReward;
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
    use crate::{domain::Verdict, testing::sample};

    #[test]
    fn a_skill_counts_after_the_warm_up_alone() {
        let report = sample::attempt_report("a", &[sample::skill("one")], true);
        let check = |binary: bool, warming_up: bool, verdict: &Verdict, expect: Option<f64>| {
            let levels = LevelReward {
                binary,
                ..LevelReward::default()
            };
            let attempt = JudgedAttempt {
                warming_up,
                ..JudgedAttempt::new(&report, verdict)
            };
            assert_eq!(levels.reward(&attempt).unwrap(), expect);
        };
        let done = Verdict::binary(true);
        check(false, false, &done, Some(2.0));
        check(false, true, &done, Some(1.0));
        check(true, false, &done, Some(1.0));
        check(false, false, &Verdict::binary(false), Some(0.0));
        check(false, false, &Verdict::undecided(), None);
    }
}

#[cfg(test)]
mod hierarchical_tests {
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
