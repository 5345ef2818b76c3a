//! What a machine needs, and what it is told.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Candidate, Commit, Committed, Query, Skill, SkillDraft, Task, Trajectory, Usage, Verdict,
    },
    error::Result,
    id::{AttemptId, RunId, Seed},
    library::Entry,
    select::SkillScores,
};

/// The stations at which a task can wait, in the order in which it passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Station {
    /// For candidates.
    Retrieve,
    /// For their log-probabilities.
    Score,
    /// For attempts.
    Attempt,
    /// For verdicts.
    Judge,
    /// For a skill to be written.
    Write,
    /// For the library to be changed.
    Commit,
}

/// A need's identity. It follows from where the need arises and not from when, so answers can come in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NeedId {
    /// The task's place in the stream, from 0.
    pub step: u64,
    /// Where the task waits.
    pub station: Station,
    /// Which of the needs of that station, from 0.
    pub index: u32,
}

impl fmt::Display for NeedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:?}/{}", self.step, self.station, self.index)
    }
}

/// Something that only the host's parts can give.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// Candidates for a query.
    Retrieve(Query),
    /// The log-probabilities of skills behind a query.
    Score {
        /// The query.
        query: String,
        /// The skills, in the order of the answer.
        skills: Vec<Skill>,
        /// Whether those behind an empty query are needed too (PMI).
        unconditional: bool,
    },
    /// An attempt at a task.
    Attempt(Box<AttemptNeed>),
    /// A verdict.
    Judge {
        /// The task.
        task: Box<Task>,
        /// The attempt at it.
        trajectory: Box<Trajectory>,
    },
    /// A skill from successful attempts.
    Write {
        /// The task.
        task: Box<Task>,
        /// The attempts, the best first.
        traces: Vec<Trajectory>,
        /// What sampling follows from.
        seed: Seed,
    },
    /// A change of the library.
    Commit(Commit),
}

/// What an attempt is to be made with.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptNeed {
    /// Of which run.
    pub run: RunId,
    /// Which attempt.
    pub attempt: AttemptId,
    /// At which task, as the machine sees it: without its secrets.
    pub task: Task,
    /// What the agent's randomness follows from.
    pub seed: Seed,
    /// What the world's randomness follows from: the same for a whole group.
    pub world_seed: Seed,
    /// 0 is greedy.
    pub temperature: f32,
    /// The skills to inject, in order.
    pub skills: Vec<ChosenSkill>,
    /// How many tokens their texts may take together.
    pub skill_tokens: Option<usize>,
    /// How long it may take.
    pub time_limit: Duration,
}

/// A skill to inject, and the hash of what was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenSkill {
    /// The skill.
    pub skill: Skill,
    /// What the library recorded when this version came in ([`Entry::sha256`](crate::library::Entry::sha256)): one
    /// whose content is another is not injected (S21).
    pub sha256: String,
}

impl From<&Entry> for ChosenSkill {
    fn from(entry: &Entry) -> Self {
        Self {
            skill: entry.skill.clone(),
            sha256: entry.sha256.clone(),
        }
    }
}

/// A skill that was written, or why none was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The draft.
    pub draft: SkillDraft,
    /// Whether it is the trace abstraction, made without the model.
    pub fallback: bool,
    /// What the model wrote and why it could not be read, for each answer that could not.
    pub unreadable: Vec<(String, String)>,
    /// What the writing cost.
    pub usage: Usage,
}

impl Written {
    /// What the model wrote.
    pub fn by_model(draft: SkillDraft, unreadable: Vec<(String, String)>, usage: Usage) -> Self {
        Self {
            draft,
            fallback: false,
            unreadable,
            usage,
        }
    }
}

/// What a commit brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitDone {
    /// Everything committed since the base, this commit last.
    pub committed: Vec<Committed>,
    /// How many times the base was moved because another writer was first.
    pub rebased: u32,
}

/// The answer to a [`Need`]; an error is an answer too.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To [`Need::Retrieve`].
    Retrieved(Result<Vec<Candidate>>),
    /// To [`Need::Score`].
    Scored(Result<Vec<SkillScores>>),
    /// To [`Need::Attempt`].
    Attempted(Result<Box<Trajectory>>),
    /// To [`Need::Judge`].
    Judged(Result<Verdict>),
    /// To [`Need::Write`]; `None` where the run has no writer.
    Written(Result<Option<Written>>),
    /// To [`Need::Commit`].
    Committed(CommitDone),
}

impl Answer {
    /// The station that the answer belongs to.
    pub fn station(&self) -> Station {
        match self {
            Self::Retrieved(_) => Station::Retrieve,
            Self::Scored(_) => Station::Score,
            Self::Attempted(_) => Station::Attempt,
            Self::Judged(_) => Station::Judge,
            Self::Written(_) => Station::Write,
            Self::Committed(_) => Station::Commit,
        }
    }
}
