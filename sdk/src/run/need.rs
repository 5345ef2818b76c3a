//! What a machine needs, and what it is told.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Embedding, RoleAnswer, RoleTask},
    domain::{
        Action, Candidate, Commit, Committed, InformationGain, Query, Skill, Task, Trace,
        Trajectory, Usage, Verdict,
    },
    error::Result,
    id::{AttemptId, RunId, Seed},
    library::{Entry, SkillLibrary},
    program::Place,
    recipe::Recipe,
    select::{Mode, SkillScores},
};

/// The stations at which a task can wait, in the order in which it passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Station {
    /// For candidates.
    Retrieve,
    /// For what they mean, where that counts in their ranking.
    Rank,
    /// For their log-probabilities.
    Score,
    /// For attempts.
    Attempt,
    /// For verdicts.
    Judge,
    /// For what the roles say of the attempts: drafts, and what each skill did.
    Role,
    /// For the library to be changed.
    Commit,
    /// For what maintenance asks behind the task, in the order in which it does.
    Maintain,
    /// For the library to be changed by it.
    Keep,
}

/// The identity of a need. It follows from where the need arises and not from when, so answers can come in any order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NeedId {
    /// The task's place in the stream, from 0.
    pub step: u64,
    /// Where the task waits.
    pub station: Station,
    /// The place of its question in the program that asks it; of stations without a program, its number from 0.
    pub place: Place,
}

impl fmt::Display for NeedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:?}/{}", self.step, self.station, self.place)
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
    /// What a role says.
    Role {
        /// What it is asked.
        ask: Box<RoleTask>,
        /// What sampling follows from.
        seed: Seed,
    },
    /// A case of a bundle, played and judged.
    Case(Box<CaseNeed>),
    /// Texts to be compared by meaning.
    Embed(Vec<String>),
    /// The exact information gain of a skill (ARISE Eq. 14).
    Gain {
        /// The skill.
        skill: Box<Skill>,
        /// Attempts that succeeded.
        attempts: Vec<Trace>,
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
    /// What the skills of its later turns are chosen from; those of the first turn stay where it is not given.
    pub turns: Option<Arc<Turns>>,
    /// How long it may take.
    pub time_limit: Duration,
}

/// What the skills of an attempt's later turns are chosen from, and how
/// ([`SelectPer::Turn`](crate::recipe::SelectPer::Turn)).
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    /// How.
    pub recipe: Recipe,
    /// Whether skills on trial are offered.
    pub mode: Mode,
    /// The library as it was when the attempt began.
    pub library: SkillLibrary,
}

/// A case of a bundle: an attempt that begins with what is played to it.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseNeed {
    /// The attempt.
    pub attempt: AttemptNeed,
    /// The actions that are played first.
    pub prefix: Vec<Action>,
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRun {
    /// How many actions of the agent's own the environment refused.
    pub refusals: u32,
    /// How it was judged.
    pub verdict: Verdict,
    /// What it cost.
    pub usage: Usage,
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

/// What a role said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// What.
    pub answer: RoleAnswer,
    /// Whether it was made without the model, since nothing that the model wrote could be read.
    pub fallback: bool,
    /// What the model wrote and why it could not be read, for each answer that could not.
    pub unreadable: Vec<(String, String)>,
    /// What it cost.
    pub usage: Usage,
}

impl Played {
    /// Why each answer could not be read, in order.
    pub(super) fn why_unreadable(&self) -> String {
        let reasons = self.unreadable.iter().map(|(_, why)| why.as_str());
        reasons.collect::<Vec<_>>().join("; then: ")
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
    /// To [`Need::Role`]; `None` where the run has no model or no roles.
    Played(Result<Option<Played>>),
    /// To [`Need::Case`].
    Tried(Result<CaseRun>),
    /// To [`Need::Embed`]; `None` where the run has no embedder.
    Embedded(Result<Option<Vec<Embedding>>>),
    /// To [`Need::Gain`]; `None` where the run has nothing that scores, or the attempts hold no words.
    Gained(Result<Option<InformationGain>>),
    /// To [`Need::Commit`].
    Committed(CommitDone),
}

impl Answer {
    /// Whether such an answer is given at a station.
    pub(super) fn fits(&self, station: Station) -> bool {
        match self {
            Self::Retrieved(_) => station == Station::Retrieve,
            Self::Scored(_) => station == Station::Score,
            Self::Attempted(_) => station == Station::Attempt,
            Self::Judged(_) => station == Station::Judge,
            Self::Played(_) => matches!(station, Station::Role | Station::Maintain),
            Self::Embedded(_) => matches!(station, Station::Rank | Station::Maintain),
            Self::Tried(_) | Self::Gained(_) => station == Station::Maintain,
            Self::Committed(_) => matches!(station, Station::Commit | Station::Keep),
        }
    }
}
