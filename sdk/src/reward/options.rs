//! How attempts are rewarded, and what counts as use.

use serde::{Deserialize, Serialize};

use super::HierarchicalReward;
use crate::policy::OwnPolicy;

/// What counts as a skill's use in the reward.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillUse {
    /// It was injected (ARISE).
    Injected,
    /// The executor reported its use.
    Reported,
}

/// How attempts are rewarded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardPolicy {
    /// r0 < r1 < r2 (ARISE 3.1).
    pub levels: HierarchicalReward,
    /// Whether the reward is always that of the task alone, r0 or r1 (ARISE Table 2 (a)).
    #[serde(default)]
    pub binary: bool,
    /// What counts as use.
    pub skill_use: SkillUse,
    /// A rule of the host's own in place of `levels` and `binary` ([`RewardRule`](crate::policy::RewardRule)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPolicy>,
}
