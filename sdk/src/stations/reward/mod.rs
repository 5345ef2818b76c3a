//! Rewards: decides from the verdict and the use of skills an attempt's reward, and from a group's rewards the advantage of each
//! attempt and which attempts a skill is written from (ARISE 3.1, B.3, D.2; rows A7, A8).

mod advantage;
mod levels;
mod options;

pub use advantage::{ADVANTAGE_EPSILON, advantages, positive_traces};
pub use levels::HierarchicalReward;
pub use levels::LevelReward;
pub use options::RewardPolicy;

pub use crate::policy::used_when::UsedWhen;
