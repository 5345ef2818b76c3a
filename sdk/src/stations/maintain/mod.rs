//! Maintenance: what every program that looks after the library between tasks has: trials of skills by live attempts and in quarantine
//! ([`QuarantinePolicy`]; rows H6, J7), test cases from attempts and their outcomes, and the round's budget.
//!
//! The programs themselves are in the rooms of their papers: `micro` and `macro` in `papers::hisme`, `bank` in
//! `papers::skillrl`, `gains` in `papers::arise`, and `prototypes`, which an assessor schedules, in
//! `papers::scribe`. [`Maintenance`](crate::recipe::Maintenance) says which of them run, and when.

pub(crate) mod cases;
pub(crate) mod events;
pub(crate) mod live;
mod maintenance_context;
pub(crate) mod outcomes;
pub(crate) mod quarantine;
pub(crate) mod retries;
pub(crate) mod support;
pub(crate) mod within_budget;

pub(crate) use maintenance_context::MaintenanceContext;

pub use crate::domain::quarantine_policy::QuarantinePolicy;
