//! The options of rewards.

use serde::{Deserialize, Serialize};

use super::HierarchicalReward;
use crate::policy::OwnPolicy;

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
    /// A rule of the host's own in place of `levels` and `binary` ([`RewardRule`](crate::policy::RewardRule)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPolicy>,
}
