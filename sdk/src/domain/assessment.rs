//! Assessed attempts: the scores of their subgoals, lessons from failures, and the prototypes that subgoals have in common.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Subgoal, SubgoalRef, SubgoalScore, Taint, Trace},
    error::{Error, Result},
    id::{AttemptId, Category, PrototypeId, TaskId},
};

/// A subgoal with the prototype that it was routed to, and the judge's score.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssessedSubgoal {
    /// The subgoal.
    pub subgoal: Subgoal,
    /// The prototype, where one is near enough.
    pub route: Option<Route>,
    /// The judge's score; `None` where it could not be read.
    pub score: Option<SubgoalScore>,
}

impl AssessedSubgoal {
    /// A subgoal without a prototype and a score.
    pub fn new(subgoal: Subgoal) -> Self {
        Self {
            subgoal,
            route: None,
            score: None,
        }
    }
}

/// A subgoal's prototype.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// Which prototype.
    pub prototype: PrototypeId,
    /// How sure the router is, in [0, 1].
    pub confidence: f64,
}

impl Route {
    /// A match with a prototype, and its confidence in [0, 1].
    pub fn new(prototype: impl Into<PrototypeId>, confidence: f64) -> Self {
        Self {
            prototype: prototype.into(),
            confidence,
        }
    }
}

/// An attempt cut into subgoals that were routed and scored (SCRIBE 3.2).
#[non_exhaustive]
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

impl Assessment {
    /// An assessment of an attempt at a task, without subgoals.
    pub fn new(attempt: AttemptId, task: TaskId) -> Self {
        Self {
            attempt,
            task,
            category: None,
            success: None,
            repaired: false,
            subgoals: Vec::new(),
        }
    }

    /// Sets whether the task was done.
    #[must_use]
    pub fn with_success(mut self, success: impl Into<Option<bool>>) -> Self {
        self.success = success.into();
        self
    }

    /// The same with these subgoals.
    #[must_use]
    pub fn with_subgoals(mut self, subgoals: Vec<AssessedSubgoal>) -> Self {
        self.subgoals = subgoals;
        self
    }
}

/// What a failed attempt teaches: SkillRL's four points (3.1).
#[non_exhaustive]
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

impl Lesson {
    /// A lesson about a step: what was done, what should have been, and why.
    pub fn new(
        step: usize,
        flawed: impl Into<String>,
        should: impl Into<String>,
        principle: impl Into<String>,
    ) -> Self {
        Self {
            step,
            flawed: flawed.into(),
            should: should.into(),
            principle: principle.into(),
        }
    }
}

/// A subgoal that is judged again and again, to see whether the judge stays the same (SCRIBE A.3).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// Which subgoal.
    pub at: SubgoalRef,
    /// The task type that it stands for: the task's category, `None` for tasks without one.
    pub category: Option<Category>,
    /// The attempt, up to the subgoal's last step.
    pub attempt: Box<Trace>,
    /// The subgoal.
    pub subgoal: Subgoal,
    /// The rubric that it is judged by, as it was when the anchor was chosen.
    pub rubric: Rubric,
}

impl Anchor {
    /// A subgoal of an attempt, up to the subgoal's last step, and the rubric that it is judged by; its task has no category.
    pub fn new(at: SubgoalRef, attempt: Trace, subgoal: Subgoal, rubric: Rubric) -> Self {
        Self {
            at,
            category: None,
            attempt: Box::new(attempt),
            subgoal,
            rubric,
        }
    }
}

/// The scores of an anchor at one checkpoint.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorScores {
    /// Which anchor.
    pub anchor: SubgoalRef,
    /// Its scores, one for each time it was judged and the answer could be read.
    pub scores: Vec<SubgoalScore>,
}

impl AnchorScores {
    /// An anchor with its scores, one for each time that the judge's answer could be read.
    pub fn new(anchor: SubgoalRef, scores: Vec<SubgoalScore>) -> Self {
        Self { anchor, scores }
    }
}

/// How far the judge moved between two checkpoints (SCRIBE A.3).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Number of anchors that were judged at both.
    pub anchors: u32,
    /// Number of these whose mean scores differ.
    pub changed: u32,
    /// The mean of their differences, later minus earlier, in points of the score.
    pub mean: f64,
    /// Number of the later checkpoint's anchors whose scores differ among themselves.
    pub unsteady: u32,
}

impl Drift {
    /// The drift from one checkpoint to another.
    pub fn between(earlier: &[AnchorScores], later: &[AnchorScores]) -> Self {
        let mean = |one: &AnchorScores| {
            let sum: u32 = one.scores.iter().map(|score| u32::from(score.get())).sum();
            (!one.scores.is_empty()).then(|| f64::from(sum) / one.scores.len() as f64)
        };
        let before: BTreeMap<_, f64> = earlier
            .iter()
            .filter_map(|one| Some((&one.anchor, mean(one)?)))
            .collect();
        let mut drift = Self::default();
        for one in later {
            let unsteady = one.scores.windows(2).any(|pair| pair[0] != pair[1]);
            drift.unsteady += u32::from(unsteady);
            let (Some(now), Some(was)) = (mean(one), before.get(&one.anchor)) else {
                continue;
            };
            drift.anchors += 1;
            drift.changed += u32::from(now != *was);
            drift.mean += now - was;
        }
        drift.mean /= f64::from(drift.anchors.max(1));
        drift
    }
}

/// A common mistake, and the score that a subgoal with it has (SCRIBE 3.1, Common Traps).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trap {
    /// The mistake, in words.
    pub trap: String,
    /// The score of a subgoal in which it was made.
    pub score: SubgoalScore,
}

impl Trap {
    /// A trap, and the score of falling into it.
    pub fn new(trap: impl Into<String>, score: SubgoalScore) -> Self {
        Self {
            trap: trap.into(),
            score,
        }
    }
}

/// What a prototype says: when it applies, what it is for, how it is done well, and how it is judged (SCRIBE 3.1, figure 2).
/// Concrete values of the tasks that it was distilled from are abstracted away.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rubric {
    /// The name of the skill.
    pub title: String,
    /// The situations in which it is used.
    pub use_context: String,
    /// What it accomplishes, one line each.
    pub objectives: Vec<String>,
    /// The canonical pattern: how it is done.
    pub pattern: String,
    /// What a judge checks, one line each.
    pub checklist: Vec<String>,
    /// Common mistakes with their scores.
    pub traps: Vec<Trap>,
}

impl Rubric {
    /// A rubric with a title alone. [`LibraryChange::validate`](crate::domain::LibraryChange::validate) refuses a prototype whose
    /// rubric has no checklist.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            use_context: String::new(),
            objectives: Vec::new(),
            pattern: String::new(),
            checklist: Vec::new(),
            traps: Vec::new(),
        }
    }
}

/// A skill prototype: a rubric, and the subgoals that it was distilled from.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prototype {
    /// Kept over refreshes while the same subgoals belong to it (SCRIBE 3.2).
    pub id: PrototypeId,
    /// The rubric.
    pub rubric: Rubric,
    /// Whether the cluster is dense (HDBSCAN) or made of what density left as noise (k-means).
    pub dense: bool,
    /// The subgoals of the cluster.
    pub members: Vec<SubgoalRef>,
    /// How many members it had when its rubric was distilled.
    pub distilled_from: usize,
    /// Texts of subgoals near the cluster's center, nearest first: a new subgoal is routed by its similarity to them. Texts and
    /// not numbers, so that they hold for every embedder.
    pub exemplars: Vec<String>,
    /// Whether it was distilled from untrusted text.
    pub taint: Taint,
}

impl Prototype {
    /// A sparse prototype without members.
    pub fn new(id: impl Into<PrototypeId>, rubric: Rubric) -> Self {
        Self {
            id: id.into(),
            rubric,
            dense: false,
            members: Vec::new(),
            distilled_from: 0,
            exemplars: Vec::new(),
            taint: Taint::Clean,
        }
    }
}

impl Prototype {
    /// Greatest number of exemplars.
    pub const EXEMPLARS: usize = 8;

    /// Checks that the prototype can be routed to and judged by.
    ///
    /// # Errors
    /// `Invalid` for a prototype without an exemplar or with more than [`Prototype::EXEMPLARS`], and for one without a
    /// checklist.
    pub fn validate(&self) -> Result<()> {
        let invalid = |rule: &'static str| {
            Err(Error::invalid("Prototype::validate", rule).with("prototype", &self.id))
        };
        if self.exemplars.is_empty() || self.exemplars.len() > Self::EXEMPLARS {
            return invalid("a prototype has 1 to 8 exemplars");
        }
        match self.rubric.checklist.is_empty() {
            true => invalid("a prototype has a checklist of at least one line"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_told_by_anchor() {
        let scores = |place, scores: &[u8]| AnchorScores {
            anchor: SubgoalRef {
                attempt: AttemptId::new("a"),
                place,
            },
            scores: scores
                .iter()
                .map(|score| SubgoalScore::new(*score).unwrap())
                .collect(),
        };
        let earlier = [scores(0, &[3, 3]), scores(1, &[2, 2]), scores(2, &[1, 1])];
        let later = [scores(0, &[3, 3]), scores(1, &[1, 2]), scores(3, &[0, 0])];
        let drift = Drift::between(&earlier, &later);
        assert_eq!((drift.anchors, drift.changed, drift.unsteady), (2, 1, 1));
        assert!((drift.mean + 0.25).abs() < 1e-9);
        assert_eq!(Drift::between(&[], &later).anchors, 0);
        // An anchor whose scores could not be read is not compared.
        assert_eq!(Drift::between(&earlier, &[scores(0, &[])]).anchors, 0);
    }
}
