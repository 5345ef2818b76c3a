//! What a run tells: its events, its reports, and what it found that will not happen. Values alone.

mod event;
mod finding;
mod run_report;

pub use event::{Event, EventKind};
pub(crate) use finding::Observed;
pub use finding::{Finding, FindingKind};
pub use run_report::{
    AttemptReport, MaintenanceUsage, RunReport, SkillGain, TaskReport, WriteReport,
};
