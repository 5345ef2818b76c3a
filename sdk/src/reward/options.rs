//! The options of rewards.

use serde::{Deserialize, Serialize};

use super::{HierarchicalReward, ProcessReward};
use crate::{domain::SkillUse, policy::OwnPolicy, report::AttemptReport};

/// When a recipe counts a skill as used by an attempt: for its reward, for its credit, and for the live attempts that release a
/// skill on trial.
/// Each variant says what becomes of an attempt of which nobody knows whether it followed the skill
/// ([`SkillUse::Unknown`]).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsedWhen {
    /// When it was injected, whatever is known of its use (ARISE 3.1: an attempt uses the skill that the policy selected for it).
    #[default]
    Injected,
    /// When it is known to have been followed. Unknown counts as not used.
    Followed,
    /// When it was injected and is not known to have been left aside. Unknown counts as used.
    FollowedOrUnknown,
}

impl UsedWhen {
    /// Whether an attempt used a skill.
    pub(crate) fn counts(self, attempt: &AttemptReport) -> bool {
        !attempt.injected.is_empty() && self.counts_injected(attempt.used)
    }

    /// Whether an injected skill of this use counts.
    pub(crate) fn counts_injected(self, used: SkillUse) -> bool {
        match self {
            Self::Injected => true,
            Self::Followed => used.is_followed(),
            Self::FollowedOrUnknown => used != SkillUse::NotFollowed,
        }
    }
}

/// How attempts are rewarded.
///
/// ```
/// use journeyman::{
///     recipe,
///     reward::{HierarchicalReward, RewardPolicy, UsedWhen},
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.reward = RewardPolicy {
///     levels: HierarchicalReward::new(0.0, 1.0, 1.5)?,
///     binary: false,
///     skill_use: UsedWhen::FollowedOrUnknown,
///     process: None,
///     own: None,
/// };
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardPolicy {
    /// The three rewards, r0 < r1 < r2 (ARISE 3.1).
    pub levels: HierarchicalReward,
    /// Whether the reward is always that of the task alone, r0 or r1 (ARISE Table 2 (a)).
    #[serde(default)]
    pub binary: bool,
    /// When a skill counts as used. The paper's is [`UsedWhen::Injected`].
    pub skill_use: UsedWhen,
    /// Weights of process and outcome, in place of `levels` and `binary`; the process score comes from
    /// [`Recipe::assess`](crate::recipe::Recipe::assess). In the warm-up the reward is that of the task alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessReward>,
    /// A rule of the host's own in place of all these ([`RewardRule`](crate::policy::RewardRule)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPolicy>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn each_way_of_counting_says_what_becomes_of_unknown() {
        use SkillUse::{Followed, NotFollowed, Unknown};
        let check = |when: UsedWhen, expect: [bool; 3]| {
            let counts = [Followed, NotFollowed, Unknown].map(|used| {
                let mut attempt = sample::attempt_report("a", &[sample::skill("one")], true);
                attempt.used = used;
                when.counts(&attempt)
            });
            assert_eq!(counts, expect, "{when:?}");
            let none = sample::attempt_report("a", &[], true);
            assert!(!when.counts(&none), "no skill, no use");
        };
        check(UsedWhen::Injected, [true, true, true]);
        check(UsedWhen::Followed, [true, false, false]);
        check(UsedWhen::FollowedOrUnknown, [true, false, true]);
    }
}
