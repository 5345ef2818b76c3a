//! The interface for hosts: sessions, runs, attempts in the host's own loop, and changes of the library.

pub(crate) mod asked_roles;
pub(crate) mod asking;
#[cfg(feature = "measure")]
mod by_outcomes;
#[cfg(feature = "measure")]
mod certify;
pub(crate) mod checks;
mod events;
mod gate_in_force;
pub(crate) mod group;
pub(crate) mod handle;
pub(crate) mod journeyman;
mod lengths;
pub(crate) mod library_changes;
pub(crate) mod locking;
pub(crate) mod session;
mod watching;
pub(crate) mod withheld;

#[cfg(feature = "measure")]
pub use self::{
    by_outcomes::OutcomeCalibration,
    certify::{Certificate, CertifiedSkill},
};
pub use events::Events;
pub use gate_in_force::{GateInForce, ThresholdBy};
pub use group::{AttemptGroup, GroupStatus};
pub use handle::AttemptHandle;
pub use journeyman::Journeyman;
pub use library_changes::Retirement;
pub use library_changes::{AddFate, AddReport, AddedSkill};
pub use session::Options;
