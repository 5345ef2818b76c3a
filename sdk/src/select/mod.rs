//! Selection: scores, the gate, exploration. 'Inject nothing' is an answer like any other.
//!
//! The [`Selector`] names how a skill is chosen. Where it is a [`GatePolicy`], the scorer's log-probabilities
//! of each candidate ([`SkillScores`](crate::contract::SkillScores)) go through [`decide`]; the other selectors are baselines that need no
//! scores. Every answer is a [`Selection`](crate::domain::Selection), which says what was decided, by which score, and why.
//!
//! Thresholds belong to a score and a model ([`ThresholdFor`]). Fitting them on the outcomes of training runs
//! (row J4) will be a fold over those outcomes that gives a [`GatePolicy`], in a file of its own here.

mod gate;
mod gate_policy;
mod options;
pub(crate) mod selecting;
mod selector;

#[cfg(test)]
mod tests;

pub use gate::decide;
pub use gate_policy::{GatePolicy, ThresholdFor};
pub use options::{Candidates, SelectPer, SelectPolicy};
pub use selector::Selector;
