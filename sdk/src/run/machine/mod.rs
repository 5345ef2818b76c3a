//! The state machine of a run: the order of tasks, batches and maintenance, the processing of answers, events and reports.
//! It does no input or output.

pub(crate) mod admission_rule;
pub(crate) mod advancing;
pub(crate) mod attempting;
mod comparing;
pub(crate) mod effect;
pub(crate) mod fold;
pub(crate) mod journal;
pub(crate) mod maintaining;
pub(crate) mod maintenance_program;
pub(crate) mod recorded;
pub(crate) mod run_context;
pub(crate) mod run_machine;
pub(crate) mod settled;
pub(crate) mod task_machine;
pub(crate) mod turning;
pub(crate) mod work;

pub use effect::{AttemptEffect, CaseEffect, Effect, EffectId, Station, TurnAsk};
pub use journal::{RunEntry, replay};
pub use recorded::recorded_attempts;
pub use run_machine::{RunMachine, RunPlan};
