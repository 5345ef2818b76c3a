//! What a skill's life leaves behind beside rewards: how attempts with it went (HiSME 3.3), the cases that it has to
//! pass, and the rules that roles learnt from it (3.4).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Action, SkillRef, Step, Taint, Task, Trajectory, Trust, Verdict};
use crate::id::{AttemptId, Category, ModelId, Seed, TaskId};

/// An attempt with all that is known of it: what roles are shown, and what the library keeps for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// At which task, as the run has it: without secrets.
    pub task: Task,
    /// What happened.
    pub trajectory: Trajectory,
    /// How it went, where anybody could tell.
    pub verdict: Option<Verdict>,
    /// What the world's randomness followed from: with it and the same actions a deterministic world is played again.
    pub world_seed: Seed,
}

impl Trace {
    /// Whether the task was done, as far as anybody could tell.
    pub fn is_success(&self) -> bool {
        let verdict = self.verdict.as_ref();
        verdict.and_then(|verdict| verdict.success) == Some(true)
    }

    /// Whether anything that the agent saw is of an untrusted source: what is written from it then starts quarantined (J7).
    pub fn taint(&self) -> Taint {
        let trusted = |step: &Step| {
            step.observation.source.trust == Trust::Trusted
                && step.result.source.trust == Trust::Trusted
        };
        match self.trajectory.steps.iter().all(trusted) {
            true => Taint::Clean,
            false => Taint::Tainted,
        }
    }

    /// The same without what only a trainer needs: token ids and log-probabilities.
    #[must_use]
    pub fn lean(mut self) -> Self {
        for step in &mut self.trajectory.steps {
            step.generations.clear();
        }
        self
    }
}

/// A part that a model plays beside the agent's.
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
    /// Mends a skill from what its attempts showed (HiSME 3.3, algorithm 4).
    Refine,
    /// Says what a skill did to an attempt (HiSME 3.3).
    Attribute,
    /// Cuts an attempt into the cases that a skill has to pass (HiSME 3.3).
    Bundle,
    /// Finds rules for another role from how what it made has fared (HiSME 3.4, algorithm 5).
    Evolve,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Summarize,
        Self::Extract,
        Self::Refactor,
        Self::Refine,
        Self::Attribute,
        Self::Bundle,
        Self::Evolve,
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
        }
    }

    /// Whether it learns rules: those that make skills do (HiSME 3.4).
    pub fn learns_rules(self) -> bool {
        matches!(self, Self::Extract | Self::Refactor | Self::Refine)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a skill did to an attempt that was given it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It helped.
    Helpful,
    /// It did harm.
    Harmful,
    /// It did neither.
    Neutral,
    /// It cannot be told.
    Uncertain,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
            Self::Neutral => "neutral",
            Self::Uncertain => "uncertain",
        })
    }
}

/// A judgement with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// In which attempt.
    pub attempt: AttemptId,
    /// At which task.
    pub task: TaskId,
    /// What it did.
    pub judgement: Judgement,
    /// To which part of the attempt it is attributed, in words; the whole where it is empty.
    pub scope: String,
    /// Why, in words.
    pub reason: String,
}

/// How an attempt went that was given a skill: live evidence, where nothing can be played again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExposureOutcome {
    /// At which task.
    pub task: TaskId,
    /// Whether the task was done.
    pub success: bool,
    /// How many actions the environment refused.
    pub refused: u32,
}

/// How an attempt went, in short: what the library remembers to tell how well the agent does at tasks like another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptNote {
    /// Which attempt.
    pub attempt: AttemptId,
    /// The host's own grouping of its task.
    pub category: Option<Category>,
    /// Digests of the content words of its task's instruction, sorted, each once, at most [`AttemptNote::WORDS`]. A digest
    /// has 16 bits, so that many words share it: likeness can be measured, and no word of the task (a person's name, say)
    /// is kept where nobody who erases it would find it.
    pub words: Vec<u16>,
    /// The verdict's score, in [0, 1].
    pub score: f64,
    /// How many actions the environment refused.
    pub refused: u32,
}

impl AttemptNote {
    /// How many words a note has at most.
    pub const WORDS: usize = 64;

    /// How well the agent did by itself, in [0, 1]: the score, and 0 where it got there only after it had been refused.
    pub fn level(&self) -> f64 {
        if self.refused > 0 { 0.0 } else { self.score }
    }
}

/// What kind of case a skill has to pass.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// The fragment that the skill is about, with the skill alone in the prompt.
    Unit,
    /// A whole task that the skill should help with.
    Integration,
    /// A whole task that is none of its business: it must do no harm.
    Negative,
}

/// A case of a test bundle: a task, played from a point on, with the skill in the prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleCase {
    /// Unique within the bundle.
    pub name: String,
    /// What it checks.
    pub kind: CaseKind,
    /// The task, as the run has it: without secrets.
    pub task: Task,
    /// The attempt that it was cut from.
    pub attempt: AttemptId,
    /// What the world's randomness follows from, as in that attempt.
    pub world_seed: Seed,
    /// The actions that are played before the agent takes over; those of a fragment's beginning.
    pub prefix: Vec<Action>,
    /// How many actions the environment may refuse from there on.
    pub refusals: u32,
    /// The least score of the verdict, in [0, 1]; the task has to be done in any case.
    pub least_score: f64,
}

impl BundleCase {
    /// Whether it is a whole attempt, in which nothing is played before the agent begins.
    pub fn is_whole(&self) -> bool {
        self.prefix.is_empty()
    }
}

/// How much a skill's text raises a model's confidence in what was done successfully (ARISE D.3, Eq. 14).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InformationGain {
    /// The mean over attempts of log p(the attempt's words given skill and task) - log p(the same given the task), in nats.
    pub nats: f64,
    /// Over how many attempts, at least 1.
    pub attempts: u32,
    /// By which model.
    pub model: ModelId,
}

/// A rule that a role keeps to: one short sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoleRule(pub String);

impl RoleRule {
    /// The greatest length in characters.
    pub const MAX: usize = 300;
    /// How many rules a role has at most (HiSME 3.4).
    pub const MOST: usize = 5;
}

impl fmt::Display for RoleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
