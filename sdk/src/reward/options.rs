//! The options of rewards.

use serde::{Deserialize, Serialize};

use super::{HierarchicalReward, ProcessReward};
use crate::{policy::OwnPolicy, report::AttemptReport};

/// When the reward counts a skill as used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillUse {
    /// When it was injected (ARISE).
    Injected,
    /// When the executor reported its use.
    Reported,
}

impl SkillUse {
    /// Whether an attempt used a skill.
    pub(crate) fn counts(self, attempt: &AttemptReport) -> bool {
        match self {
            Self::Injected => !attempt.injected.is_empty(),
            Self::Reported => attempt.used,
        }
    }
}

/// How attempts are rewarded.
///
/// ```
/// use journeyman::{
///     recipe,
///     reward::{HierarchicalReward, RewardPolicy, SkillUse},
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.reward = RewardPolicy {
///     levels: HierarchicalReward::new(0.0, 1.0, 1.5)?,
///     binary: false,
///     skill_use: SkillUse::Reported,
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
    /// When a skill counts as used.
    pub skill_use: SkillUse,
    /// Weights of process and outcome, in place of `levels` and `binary`; the process score comes from
    /// [`Recipe::assess`](crate::recipe::Recipe::assess). In the warm-up the reward is that of the task alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessReward>,
    /// A rule of the host's own in place of all these ([`RewardRule`](crate::policy::RewardRule)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPolicy>,
}
