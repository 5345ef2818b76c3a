//! Skill prototypes: what many subgoals have in common, as a rubric for a judge (SCRIBE 3.1).

use serde::{Deserialize, Serialize};

use super::{SubgoalRef, SubgoalScore, Taint};
use crate::{
    error::{Error, Result},
    id::PrototypeId,
};

/// A common mistake, and the score that a subgoal with it has (SCRIBE 3.1, Common Traps).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trap {
    /// The mistake, in words.
    pub trap: String,
    /// The score of a subgoal in which it was made.
    pub score: SubgoalScore,
}

/// What a prototype says: when it applies, what it is for, how it is done well, and how it is judged (SCRIBE 3.1, figure 2).
/// Concrete values of the tasks that it was distilled from are abstracted away.
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

/// A skill prototype: a rubric, and the subgoals that it was distilled from.
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
