//! Selection: decides which skills, if any, go into the agent's prompt for a query (ARISE 3.2; HiSME appendix B and
//! algorithm 2; SkillRL 3.2; rows A3, H12, J4, R3). 'Inject nothing' is a regular answer.
//!
//! A [`SelectPolicy`] says which skills are candidates, how they are ranked, which [`Selector`] chooses among them, and how
//! often. A [`GatePolicy`] selector decides from the scorer's log-probabilities of each candidate
//! ([`SkillScores`](crate::contract::SkillScores)) by [`decide`]; a [`BankSelector`] takes general skills and those of the task's
//! category, and may have a gate behind it; the other selectors are baselines and need no scores. Every
//! answer is a [`Selection`](crate::domain::Selection): the decision, the score that it was made by, and the reason.
//!
//! A threshold is valid for one score, one model and one prompt format ([`ThresholdFor`]); [`GateCalibration`] fits it.

mod bank_selector;
mod calibration;
mod from_bank;
mod gate;
mod gate_policy;
mod in_force;
mod null;
mod options;
pub(crate) mod selecting;
mod selector;

#[cfg(test)]
mod tests;

pub use bank_selector::{BankGate, BankSelector, WithoutCategory};
pub(crate) use calibration::prompt_format_digest;
pub use calibration::{GateCalibration, GateRates, LabeledScores, Share};
pub use gate::decide;
pub use gate_policy::{GatePolicy, ThresholdFor};
pub(crate) use null::CANDIDATES;
pub use null::{null_tasks, stand_ins};
pub use options::{Candidates, SelectPer, SelectPolicy};
pub use selector::Selector;
