//! SkillOS: the recipe, in which a curator inserts, updates and deletes skills after each task; groups of tasks that are run in
//! sequence ([`Grouping`]), each with libraries of its own ([`Rollouts`]), and what a curator is rewarded by ([`CompositeTerms`],
//! [`Journeyman::review`](crate::run::Journeyman::review)) (rows K1 to K6). The curator itself is the writer
//! [`Curate`](crate::stations::propose::Curate).

mod composite;
mod efficiency;
mod grouping;
mod recipe;
mod review;
mod rollouts;
mod tagging;

pub use composite::{CompositeTerms, CompositeWeights, repository_tokens};
pub use efficiency::{CallMix, CallWindow, Efficiency};
pub use grouping::Grouping;
pub use recipe::skillos;
pub use review::{ReviewReport, SkillReview, UnreviewedSkill};
pub use rollouts::{GroupRollout, MergeReport, Rollouts, TaskGeneration};
pub use tagging::{TaggedTasks, UntaggedTask};
