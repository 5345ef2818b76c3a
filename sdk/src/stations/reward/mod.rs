//! Rewards: decides from the verdict and the use of skills an attempt's reward, and from a group's rewards the advantage of each
//! attempt and which attempts a skill is written from (ARISE 3.1, B.3, D.2; rows A7, A8; SCRIBE 4, row C6). A curator is rewarded
//! over a group of tasks (SkillOS, training regime; row K4).

mod advantage;
mod composite;
mod levels;
mod options;
mod process;

pub use advantage::{ADVANTAGE_EPSILON, advantages, positive_traces};
pub use composite::{CompositeTerms, CompositeWeights, repository_tokens};
pub use levels::HierarchicalReward;
pub use levels::LevelReward;
pub use options::{RewardPolicy, UsedWhen};
pub use process::ProcessReward;
