//! The answers that policies get to their questions.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Embedding, RoleAnswer, SkillScores},
    domain::{Candidate, Committed, InformationGain, Skill, Trajectory, Usage, Verdict},
    error::{Error, Result},
    library::Entry,
};

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

/// The answer of a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The answer, read from the model's text.
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
    pub(crate) fn why_unreadable(&self) -> String {
        let reasons = self.unreadable.iter().map(|(_, why)| why.as_str());
        reasons.collect::<Vec<_>>().join("; then: ")
    }
}

/// A role or a test case that failed after its model may have been asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedCall {
    /// Why it failed.
    pub error: Error,
    /// The tokens that were spent before it failed.
    pub usage: Usage,
}

impl From<Error> for FailedCall {
    /// A call that failed before a model answered.
    fn from(error: Error) -> Self {
        Self {
            error,
            usage: Usage::default(),
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

/// An answer of a host's part; an error is an answer too.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The candidates for a query.
    Retrieved(Result<Vec<Candidate>>),
    /// Log-probabilities.
    Scored(Result<Vec<SkillScores>>),
    /// An attempt.
    Attempted(Result<Box<Trajectory>>),
    /// A verdict.
    Judged(Result<Verdict>),
    /// What a role says; `None` where the run has no model or no roles.
    Played(Result<Option<Played>, FailedCall>),
    /// How a test case went.
    Tried(Result<CaseRun, FailedCall>),
    /// Embeddings, in the order of the texts; `None` where the run has no embedder.
    Embedded(Result<Option<Vec<Embedding>>>),
    /// An exact information gain; `None` where the run has nothing that scores, or the attempts hold no words.
    Gained(Result<Option<InformationGain>>),
    /// A commit was made.
    Committed(CommitDone),
}

impl Answer {
    /// The tokens of a role or a test case, also of one that failed; none for other answers. An attempt's are in its
    /// trajectory.
    pub(crate) fn usage(&self) -> Usage {
        match self {
            Self::Played(Ok(Some(played))) => played.usage,
            Self::Tried(Ok(run)) => run.usage,
            Self::Played(Err(failed)) | Self::Tried(Err(failed)) => failed.usage,
            _ => Usage::default(),
        }
    }
}
