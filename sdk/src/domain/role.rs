//! The roles that a model plays besides the agent.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A task that a model does besides acting as the agent.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes one skill from the successful attempts of a group (ARISE D.1).
    Summarize,
    /// Writes a skill from a single attempt (HiSME 3.2).
    Extract,
    /// Writes the skill that attempts at several tasks share (HiSME 3.2, algorithm 3).
    Refactor,
    /// Writes a new version of a skill from the attempts that had it (HiSME 3.3, algorithm 4).
    Refine,
    /// Judges a skill's effect on an attempt (HiSME 3.3).
    Attribute,
    /// Cuts an attempt into the cases that a skill has to pass (HiSME 3.3).
    Bundle,
    /// Finds rules for another role from the results of the skills that it made (HiSME 3.4, algorithm 5).
    Evolve,
    /// Cuts an attempt into subgoals (SCRIBE 3.1).
    Segment,
    /// Distils a prototype from the subgoals of a cluster (SCRIBE 3.1).
    DistilPrototype,
    /// Finds the prototype that a subgoal belongs to (SCRIBE 3.2).
    Route,
    /// Scores a subgoal from 0 to 3 (SCRIBE 3.2).
    Score,
    /// Decides on changes of the skill repository after an attempt (SkillOS, architecture).
    Curate,
    /// Tags a task with the skills that it needs (SkillOS, preprocessing).
    Tag,
    /// Says what a failed attempt teaches (SkillRL 3.1).
    Lesson,
    /// Distils general skills, or those of one category, from patterns and lessons (SkillRL 3.2, 3.3).
    DistilBank,
    /// Judges the text of one skill from 0 to 3 (SkillOS, training regime: r_cnt).
    Review,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Summarize,
        Self::Extract,
        Self::Refactor,
        Self::Refine,
        Self::Attribute,
        Self::Bundle,
        Self::Evolve,
        Self::Segment,
        Self::DistilPrototype,
        Self::Route,
        Self::Score,
        Self::Curate,
        Self::Tag,
        Self::Lesson,
        Self::DistilBank,
        Self::Review,
    ];

    /// Its name, as in `role-extract`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Summarize => "summarize",
            Self::Extract => "extract",
            Self::Refactor => "refactor",
            Self::Refine => "refine",
            Self::Attribute => "attribute",
            Self::Bundle => "bundle",
            Self::Evolve => "evolve",
            Self::Segment => "segment",
            Self::DistilPrototype => "distil-prototype",
            Self::Route => "route",
            Self::Score => "score",
            Self::Curate => "curate",
            Self::Tag => "tag",
            Self::Lesson => "lesson",
            Self::DistilBank => "distil-bank",
            Self::Review => "review",
        }
    }

    /// Whether the role learns rules: extract, refactor and refine do (HiSME 3.4).
    pub fn learns_rules(self) -> bool {
        matches!(self, Self::Extract | Self::Refactor | Self::Refine)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
