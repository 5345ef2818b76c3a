//! Rewards and advantages (ARISE 3.1, B.3, D.2; rows A7, A8).

mod advantage;
mod hierarchical;
mod options;

pub use advantage::{advantages, positive_traces};
pub use hierarchical::HierarchicalReward;
pub use options::{RewardPolicy, SkillUse};
