//! The reward in three levels, as a rule that a recipe names.

use serde::{Deserialize, Serialize};

use super::HierarchicalReward;
use crate::{
    error::Result,
    policy::{JudgedAttempt, PolicyOptions, RewardRule},
};

/// Rewards an attempt with one of three levels (ARISE 3.1): the reward rule `levels`. In the warm-up the reward is that of the
/// task alone.
///
/// ```
/// use journeyman::{recipe, reward::LevelReward};
///
/// let mut recipe = recipe::standard();
/// recipe.reward.by = LevelReward { binary: true, ..LevelReward::default() }.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
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
