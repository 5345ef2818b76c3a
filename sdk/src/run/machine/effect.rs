//! [`Effect`], a piece of work that a run's machine requests from the host's parts, and [`EffectId`], its identity.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    contract::RoleTask,
    domain::{
        Action, Commit, DecidedOn, Query, ScoreKind, Skill, Task, Trace, Trajectory, TurnQuery,
    },
    id::{AttemptId, RunId, Seed},
    policy::{Answer, ChosenSkill},
    program::QuestionPath,
};

/// The kinds of work for which a run can wait. The first seven are in the order in which a task passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Station {
    /// Retrieval of candidates.
    Retrieve,
    /// Embeddings for the ranking of candidates.
    Rank,
    /// Log-probabilities of candidates.
    Score,
    /// Attempts.
    Attempt,
    /// Verdicts.
    Judge,
    /// Answers of roles about the attempts: drafts, and judgements of skills.
    Role,
    /// The task's commit.
    Commit,
    /// All questions of the maintenance after the task.
    Maintain,
    /// A commit of maintenance.
    Keep,
    /// Test cases and gains that a policy of the host's own asks for.
    Try,
    /// All questions of the selection for a later turn of an attempt.
    Turn,
}

/// The identity of an effect. It depends on where it arises and not on when, so answers can come in any order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The task's index in the stream, from 0.
    pub step: u64,
    /// The kind of work.
    pub station: Station,
    /// The place of the question in its program; for a commit, the commit's number within the step, from 0.
    pub place: QuestionPath,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:?}/{}", self.step, self.station, self.place)
    }
}

/// A piece of work for the host's parts.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Candidates for a query.
    Retrieve(Query),
    /// The log-probabilities by which skills are compared for a query.
    Score {
        /// The query.
        query: String,
        /// The skills; the answer has the same order.
        skills: Arc<[Skill]>,
        /// The score that they are for.
        score: ScoreKind,
        /// Whether the answer has to be the same each time ([`ScoreRequest::repeatable`](crate::contract::ScoreRequest)).
        repeatable: bool,
    },
    /// The threshold of a gate for the model that scores.
    Threshold {
        /// The share of tasks without a right skill at which one may be injected.
        most_wrong: f64,
        /// Which skill the decision is about.
        on: DecidedOn,
    },
    /// An attempt at a task.
    Attempt(Box<AttemptEffect>),
    /// A verdict on an attempt.
    Judge {
        /// The task.
        task: Box<Task>,
        /// The attempt at it.
        trajectory: Box<Trajectory>,
    },
    /// A role's answer.
    Role {
        /// The role's task.
        ask: Box<RoleTask>,
        /// The seed of the sampling.
        seed: Seed,
    },
    /// A test case, to be played and judged.
    Case(Box<CaseEffect>),
    /// The embeddings of texts.
    Embed(Vec<String>),
    /// The exact information gain of a skill (ARISE Eq. 14).
    Gain {
        /// The skill.
        skill: Box<Skill>,
        /// Successful attempts.
        attempts: Vec<Trace>,
    },
    /// A commit to the library.
    Commit(Commit),
}

/// The parameters of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptEffect {
    /// The run.
    pub run: RunId,
    /// The attempt's id.
    pub attempt: AttemptId,
    /// The task, redacted.
    pub task: Task,
    /// The seed of the agent.
    pub seed: Seed,
    /// The seed of the environment; the same for all attempts of a group.
    pub world_seed: Seed,
    /// The agent's sampling temperature; 0 is greedy.
    pub temperature: f32,
    /// The skills to inject, in order.
    pub skills: Vec<ChosenSkill>,
    /// Maximum number of tokens of all injected skill texts together.
    pub skill_tokens: Option<usize>,
    /// Whether skills are selected again for each later turn ([`SelectPer::Turn`](crate::select::SelectPer::Turn)); otherwise
    /// the skills of the first turn stay.
    pub each_turn: bool,
    /// Time limit of the attempt.
    pub time_limit: Duration,
}

/// A request for the skills of a later turn of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAsk {
    /// The effect of the attempt.
    pub attempt: EffectId,
    /// The attempt's seed.
    pub seed: Seed,
    /// The turn, from 1.
    pub turn: u32,
    /// The query of the turn.
    pub query: TurnQuery,
}

/// The parameters of a test case: an attempt that begins with given actions.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseEffect {
    /// The attempt.
    pub attempt: AttemptEffect,
    /// The actions that are played before the agent acts.
    pub prefix: Vec<Action>,
}

impl Station {
    /// Whether an answer of this variant can belong to this station.
    pub(crate) fn takes(self, answer: &Answer) -> bool {
        match answer {
            Answer::Committed(_) => matches!(self, Self::Commit | Self::Keep),
            // Maintenance and selections for turns ask questions of every kind; the program checks the answer later.
            _ if matches!(self, Self::Maintain | Self::Turn) => true,
            Answer::Retrieved(_) => self == Self::Retrieve,
            Answer::Scored(_) | Answer::Fitted(_) => self == Self::Score,
            Answer::Attempted(_) => self == Self::Attempt,
            Answer::Judged(_) => self == Self::Judge,
            Answer::Played(_) => self == Self::Role,
            Answer::Embedded(_) => self == Self::Rank,
            Answer::Tried(_) | Answer::Gained(_) => self == Self::Try,
        }
    }
}
