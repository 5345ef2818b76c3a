//! Selection: decides which skills, if any, go into the agent's prompt for a query (ARISE 3.2; HiSME appendix B and
//! algorithm 2; SkillRL 3.2; rows A3, H12, J4, R3). 'Inject nothing' is a regular answer.
//!
//! A [`SelectPolicy`] says which skills are candidates, how they are ranked, which selector chooses among them, and how
//! often. A selector is a [`SelectProgram`](crate::policy::SelectProgram), of ours or of a host's own. Ours are their options:
//!
//! | name | options | chooses |
//! | --- | --- | --- |
//! | `gate` | [`GatePolicy`] | the best candidate by the scorer's log-probabilities ([`SkillScores`](crate::contract::SkillScores)), or nothing, by [`decide`] |
//! | `bank` | `papers::skillrl::BankSelector` | general skills and those of the task's category; a gate may stand behind it |
//! | `first`, `top` | [`First`], [`Top`] | the first candidates of the search |
//! | `random` | [`Random`] | a skill of the pool |
//! | `nothing` | [`Nothing`] | nothing |
//!
//! All but the gates need no scores. A selector's result is a [`Selected`]: the candidates, and a
//! [`Selection`](crate::domain::Selection) with the decision, the score that it was made by, and the reason. [`candidates()`] finds
//! and ranks as the recipe says, for a host's own selector too.
//!
//! A threshold is valid for one score, one model and one prompt format ([`ThresholdFor`]); [`GateCalibration`] fits it: without labels, to
//! tasks of which it is known which skills are right, or to what tasks came to with and without the candidate. [`ScoreDrift`] says when the
//! scores are no longer those that it was fitted on ([`FittedScores`]).

mod baselines;
mod calibration;
pub(crate) mod candidates;
pub(crate) mod gate;
mod null;
mod options;

#[cfg(test)]
mod tests;

pub use baselines::{First, Nothing, Random, Top};
pub(crate) use calibration::check_fitted_for;
pub use calibration::{
    ByOutcomes, GateCalibration, GateRates, HarmBound, LabeledScores, OutcomeFit, OutcomeRates,
    OutcomeScores, ScoreDrift, Share,
};
pub use candidates::candidates;
pub use gate::decide;
pub(crate) use null::CANDIDATES;
pub use null::{null_tasks, stand_ins};
pub use options::SelectPolicy;

pub use crate::{
    domain::{
        gate_policy::{FittedScores, GatePolicy, SelectorGate, ThresholdFor},
        retrieval::{Candidates, SelectPer},
    },
    policy::view::Selected,
};
