//! The interface for hosts: sessions, runs, attempts in the host's own loop, and changes of the library.

pub(crate) mod add_report;
pub(crate) mod assessing;
pub(crate) mod attempts;
pub(crate) mod checking;
pub(crate) mod group;
pub(crate) mod handle;
pub(crate) mod journeyman;
pub(crate) mod library_changes;
pub(crate) mod locking;
pub(crate) mod options;
pub(crate) mod previous_runs;
pub(crate) mod session;
pub(crate) mod trials;

pub use add_report::{AddFate, AddReport, AddedSkill};
pub use handle::AttemptHandle;
pub use journeyman::Journeyman;
pub use options::Options;
pub use trials::{PlanRun, SubgoalRollouts, TrialOptions};
