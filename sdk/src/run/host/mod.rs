//! The interface for hosts: sessions, runs, attempts in the host's own loop, and changes of the library.

pub(crate) mod asked_roles;
pub(crate) mod asking;
pub(crate) mod assessing;
pub(crate) mod checks;
pub(crate) mod evolve_bank;
mod gate_in_force;
pub(crate) mod group;
pub(crate) mod handle;
pub(crate) mod journeyman;
pub(crate) mod library_changes;
pub(crate) mod locking;
mod reviewing;
pub(crate) mod rollouts;
pub(crate) mod session;
pub(crate) mod tagging;
pub(crate) mod trials;
mod watching;

pub use assessing::AssessReport;
pub use evolve_bank::BankReport;
pub use gate_in_force::{GateInForce, ThresholdBy};
pub use group::{AttemptGroup, GroupStatus};
pub use handle::AttemptHandle;
pub use journeyman::Journeyman;
pub use library_changes::Retirement;
pub use library_changes::{AddFate, AddReport, AddedSkill};
pub use reviewing::{ReviewReport, SkillReview, UnreviewedSkill};
pub use rollouts::SubgoalRollouts;
pub use rollouts::{GroupRollout, MergeReport, Rollouts, TaskGeneration};
pub use session::Options;
pub use tagging::{TaggedTasks, UntaggedTask};
pub use trials::PlanRun;
pub use trials::TrialOptions;
