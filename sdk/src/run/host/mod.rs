//! The interface for hosts: sessions, runs, attempts in the host's own loop, and changes of the library.

pub(crate) mod add_report;
pub(crate) mod asked_roles;
pub(crate) mod asking;
pub(crate) mod assessing;
pub(crate) mod attempts;
pub(crate) mod bank;
pub(crate) mod checking;
mod checking_release;
mod checking_selection;
pub(crate) mod group;
pub(crate) mod handle;
pub(crate) mod journeyman;
pub(crate) mod library_changes;
pub(crate) mod locking;
pub(crate) mod options;
pub(crate) mod plan_trials;
pub(crate) mod previous_runs;
pub(crate) mod reviewing;
pub(crate) mod rollouts;
pub(crate) mod session;
pub(crate) mod subgoal_rollouts;
pub(crate) mod tagging;
pub(crate) mod trials;

pub use add_report::{AddFate, AddReport, AddedSkill};
pub use assessing::AssessReport;
pub use bank::BankReport;
pub use group::{AttemptGroup, GroupStatus};
pub use handle::AttemptHandle;
pub use journeyman::Journeyman;
pub use options::Options;
pub use plan_trials::PlanRun;
pub use reviewing::{ReviewReport, SkillReview, UnreviewedSkill};
pub use rollouts::{GroupRollout, MergeReport, Rollouts, TaskGeneration};
pub use subgoal_rollouts::SubgoalRollouts;
pub use tagging::{TaggedTasks, UntaggedTask};
pub use trials::TrialOptions;
