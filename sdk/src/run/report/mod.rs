//! The data that a run reports: progress events, reports of runs and tasks, and findings about the configuration.

mod curation;
mod event;
mod finding;
mod lift_report;
mod proxy_gain;
mod run_report;

pub use curation::{
    CallCounts, CallKind, CallOutcome, CallRefusal, CuratedCall, CurationReport, NoAnswer,
};
pub use event::{Event, EventKind};
pub(crate) use finding::Observed;
pub use finding::{Finding, FindingKind};
pub use lift_report::LiftReport;
pub use proxy_gain::ProxyGain;
pub(crate) use run_report::shown;
pub use run_report::{
    AttemptReport, Duplicate, MaintenanceUsage, RunReport, Sameness, SkillGain, TaskReport,
    WriteReport,
};
pub use run_report::{RoleCounts, RoleTally};
