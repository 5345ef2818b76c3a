//! The options of rewards.

use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    policy::Policy,
    stations::reward::{LevelReward, UsedWhen},
};

/// How attempts are rewarded. Each recipe has one, which a host changes.
///
/// ```
/// use journeyman::{
///     recipe,
///     stations::reward::{HierarchicalReward, LevelReward, UsedWhen},
/// };
///
/// let mut rule = LevelReward::default();
/// rule.levels = HierarchicalReward::new(0.0, 1.0, 1.5)?;
/// let mut recipe = recipe::standard();
/// recipe.reward.by = rule.into();
/// recipe.reward.skill_use = UsedWhen::FollowedOrUnknown;
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RewardPolicy {
    /// The rule: one of ours ([`LevelReward`], `papers::scribe::ProcessReward`), or a host's own by the name under which it is registered
    /// ([`RewardRule`](crate::policy::RewardRule)).
    pub by: Policy,
    /// When a skill counts as used. The paper's is [`UsedWhen::Injected`].
    pub skill_use: UsedWhen,
}

impl RewardPolicy {
    /// Checks the options of a rule of ours.
    ///
    /// # Errors
    /// `Invalid`, naming the policy.
    pub(crate) fn validate(&self) -> Result<()> {
        self.by.usable()?;
        self.by.check::<LevelReward>()
    }
}
