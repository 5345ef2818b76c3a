//! What a machine needs, and what it is told.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleTask,
    domain::{Action, Commit, Query, Skill, Task, Trace, Trajectory, TurnQuery},
    id::{AttemptId, RunId, Seed},
    policy::{Answer, ChosenSkill},
    program::Place,
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
    /// For test cases and measurements that a selector of the host's own asks.
    Try,
    /// For what the selection for a later turn of an attempt asks.
    Turn,
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
    /// Whether skills are selected for each later turn ([`SelectPer::Turn`](crate::select::SelectPer::Turn)); else those of the
    /// first turn stay.
    pub each_turn: bool,
    /// How long it may take.
    pub time_limit: Duration,
}

/// A later turn of an attempt, for which skills are selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAsk {
    /// The need of the attempt.
    pub attempt: NeedId,
    /// The attempt's seed.
    pub seed: Seed,
    /// The turn, from 1.
    pub turn: u32,
    /// The query of the turn.
    pub query: TurnQuery,
}

/// A case of a bundle: an attempt that begins with what is played to it.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseNeed {
    /// The attempt.
    pub attempt: AttemptNeed,
    /// The actions that are played first.
    pub prefix: Vec<Action>,
}

impl Station {
    /// Whether such an answer is given at this station.
    pub(crate) fn takes(self, answer: &Answer) -> bool {
        match answer {
            Answer::Committed(_) => matches!(self, Self::Commit | Self::Keep),
            // Maintenance programs, and selections for turns, ask every kind of question; the fold checks that the answer fits the question.
            _ if matches!(self, Self::Maintain | Self::Turn) => true,
            Answer::Retrieved(_) => self == Self::Retrieve,
            Answer::Scored(_) => self == Self::Score,
            Answer::Attempted(_) => self == Self::Attempt,
            Answer::Judged(_) => self == Self::Judge,
            Answer::Played(_) => self == Self::Role,
            Answer::Embedded(_) => self == Self::Rank,
            Answer::Tried(_) | Answer::Gained(_) => self == Self::Try,
        }
    }
}
