//! The state machine of a run: the order of tasks, batches and maintenance, the processing of answers, events and reports.
//! It does no input or output.

pub(crate) mod attempts;
pub(crate) mod derived;
pub(crate) mod effect;
pub(crate) mod fold;
pub(crate) mod journal;
pub(crate) mod maintenance;
pub(crate) mod run_machine;
pub(crate) mod run_plan;
pub(crate) mod task_machine;

pub use effect::{AttemptEffect, CaseEffect, Effect, EffectId, Station, TurnAsk};
pub use journal::recorded_attempts;
pub use journal::{RunEntry, replay};
pub use run_machine::RunMachine;
pub use run_plan::RunPlan;
