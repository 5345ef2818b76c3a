//! What a host calls.

pub(crate) mod add_report;
pub(crate) mod attempts;
pub(crate) mod begun;
pub(crate) mod bringing;
pub(crate) mod checking;
pub(crate) mod group;
pub(crate) mod handle;
pub(crate) mod journeyman;
pub(crate) mod locking;
pub(crate) mod options;
pub(crate) mod session;

pub use add_report::{AddFate, AddReport, AddedSkill};
pub use handle::AttemptHandle;
pub use journeyman::Journeyman;
pub use options::Options;
