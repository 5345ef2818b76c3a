//! Assessed attempts: the scores of their subgoals, and lessons from failures.

use serde::{Deserialize, Serialize};

use super::{Subgoal, SubgoalScore};
use crate::id::{AttemptId, Category, PrototypeId, TaskId};

/// A subgoal with the prototype that it was routed to, and the judge's score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssessedSubgoal {
    /// The subgoal.
    pub subgoal: Subgoal,
    /// The prototype, where one is near enough.
    pub route: Option<Route>,
    /// The judge's score; `None` where it could not be read.
    pub score: Option<SubgoalScore>,
}

/// A subgoal's prototype.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// Which prototype.
    pub prototype: PrototypeId,
    /// How sure the router is, in [0, 1].
    pub confidence: f64,
}

/// An attempt cut into subgoals that were routed and scored (SCRIBE 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// Which attempt.
    pub attempt: AttemptId,
    /// At which task.
    pub task: TaskId,
    /// The task's category.
    pub category: Option<Category>,
    /// Whether the task was done, where a judge decided.
    pub success: Option<bool>,
    /// Whether the spans had to be repaired ([`Segmentation::repaired`](super::Segmentation::repaired)).
    pub repaired: bool,
    /// The subgoals, in order.
    pub subgoals: Vec<AssessedSubgoal>,
}

/// What a failed attempt teaches: SkillRL's four points (3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// Where it failed: the step, from 0.
    pub step: usize,
    /// The flawed action or thought.
    pub flawed: String,
    /// What should have been done.
    pub should: String,
    /// The principle behind it.
    pub principle: String,
}
