//! The roles beside acting, and the verdicts on skills.

use serde::{Deserialize, Serialize};

/// A role beside acting. The roles that write skills from attempts (extract, compare, repair) obey the rules before
/// their opening token, each in a note of its own ([`Rule`](super::Rule)), and state after the skill which of them it breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Writes a skill from a success: `unseal coffee: unseal bell; unseal coffee tone off power $`.
    Extract,
    /// Derives a lesson from a failure: the step that failed and its call; the call that was needed; the principle. `1:
    /// unseal coffee tone # power $; unseal bell; unseal coffee needs unseal bell`.
    Lesson,
    /// Writes the skill that several traces share, or `none`.
    Compare,
    /// Corrects a skill that is out of date, or too general, from an attempt that followed it.
    Repair,
    /// Judges the effect of a skill on an attempt ([`Credit`]).
    Credit,
    /// Cuts an attempt into subgoals, each with its first and last step: `probe 1 1; prepare 2 2; finish 3 3`.
    Segment,
    /// Tags a task with its tool and the parameters that it gives: `unseal coffee; power`.
    Tag,
    /// Scores the last call against a checklist, from 0 to 3, after the state of each item: whether the call that has
    /// to come `first` was made, then each parameter. `first good pitch bad dose good 2`; `other 0` for a call of
    /// another tool; at least 1 for the checklist's own tool.
    Score,
    /// Decides on a library change after an attempt: `insert SKILL`, `update N SKILL`, `delete N` or `keep`.
    Curate,
    /// Finds the rule behind the outcomes of earlier skills: `avoid FEATURE`, `prefer FEATURE` or `none`.
    Rule,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Extract,
        Self::Lesson,
        Self::Compare,
        Self::Repair,
        Self::Credit,
        Self::Segment,
        Self::Tag,
        Self::Score,
        Self::Curate,
        Self::Rule,
    ];

    /// The control token that opens the role.
    #[must_use]
    pub fn opening(self) -> &'static str {
        match self {
            Self::Extract => "<extract>",
            Self::Lesson => "<lesson>",
            Self::Compare => "<compare>",
            Self::Repair => "<repair>",
            Self::Credit => "<credit>",
            Self::Segment => "<segment>",
            Self::Tag => "<tag>",
            Self::Score => "<score>",
            Self::Curate => "<curate>",
            Self::Rule => "<rule>",
        }
    }
}

/// The effect of a skill on an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Credit {
    /// The agent followed the skill, no refusal contradicted it, and the task was done.
    Helpful,
    /// The agent followed the skill, and a refusal named another call, value or source than the skill does, or a tool
    /// that it calls does not exist any more; or the skill is about another tool. Help by another part of the skill
    /// does not count.
    Harmful,
    /// The agent did not follow the skill, or the skill adds nothing to the task and the tools.
    Neutral,
    /// The agent followed the skill, the task was not done, and no refusal contradicted the skill.
    Uncertain,
}

impl Credit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Helpful, Self::Harmful, Self::Neutral, Self::Uncertain];

    /// The word that the model writes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
            Self::Neutral => "neutral",
            Self::Uncertain => "uncertain",
        }
    }
}
