//! The true cut of an attempt into subgoals, in the words of the bundled model's first edition.

use journeyman::Result;
use journeyman::domain::{Segmentation, Subgoal, Trace};

use super::assessing::purpose;
use crate::cut::parts;

/// The cut that the task's world gives: neighbouring steps of one purpose are one subgoal, and its skill is the tool of its last
/// call. What was recorded is replayed in the world, so the agent's and the model's words have no part in it. The subgoals have the
/// words that [`ApprenticeRoles`](super::ApprenticeRoles) reads from the bundled model's answers, whose training text was cut by the
/// same rule.
///
/// # Errors
/// `Invalid` for an attempt without steps, one whose task is no task of toolworld, and one that its world answers otherwise than
/// was recorded.
pub fn true_cut(attempt: &Trace) -> Result<Segmentation> {
    let subgoals = parts(attempt)?.into_iter().map(|part| Subgoal {
        subgoal: purpose(part.kind).unwrap_or_default().to_owned(),
        skill: part.tool.map(|tool| tool.to_string()).unwrap_or_default(),
        first: part.first,
        last: part.last,
    });
    Segmentation::new(subgoals.collect(), attempt.trajectory.steps.len())
}
