//! The answers that policies get to their questions.

use serde::{Deserialize, Serialize};

use crate::{
    contract::{Embedding, RoleAnswer, SkillScores},
    domain::{
        Candidate, Committed, FittedThreshold, GenerationRecord, InformationGain, Role, Skill,
        Trajectory, Usage, Verdict,
    },
    error::{Error, Result},
    id::ModelId,
    library::Entry,
    run::report::RoleCounts,
};

/// The result of a test case that was played and judged.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRun {
    /// Number of the agent's actions, after the case's prefix, that the environment refused.
    pub refusals: u32,
    /// The judge's verdict.
    pub verdict: Verdict,
    /// Tokens used by the agent.
    pub usage: Usage,
    /// The model that acted, with its adapter; `None` where the agent does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
}

impl CaseRun {
    /// A case that was played and judged, with no refused action, no tokens and no model until the setters name them.
    pub fn new(verdict: Verdict) -> Self {
        Self {
            refusals: 0,
            verdict,
            usage: Usage::default(),
            model: None,
        }
    }
}

/// A skill to inject, with the expected hash of its content.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenSkill {
    /// The skill.
    pub skill: Skill,
    /// The content hash that the library recorded when this version entered
    /// ([`Entry::sha256`](crate::library::Entry::sha256)). A skill whose content has another hash is not injected (S21).
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

/// A role's answer, with the model outputs that could not be parsed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The answer, parsed from the model's text.
    pub answer: RoleAnswer,
    /// Whether the answer was built without the model, because no output of the model could be parsed.
    pub fallback: bool,
    /// The model outputs that could not be parsed, in order.
    pub unreadable: Vec<Unreadable>,
    /// What the parser passed over or shortened in the output that it accepted, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the prompt was made to fit the model's context, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<ShortenedPrompt>,
    /// Tokens used by the role's model.
    pub usage: Usage,
    /// The generations behind it, those that could not be parsed included, if the session records them
    /// ([`Options::record_roles`](crate::run::Options::record_roles)); none where one of them has no record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generations: Vec<RoleGeneration>,
}

/// A prompt of a role that was made shorter to fit the model's context.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortenedPrompt {
    /// Tokens of the whole prompt.
    pub whole: u64,
    /// Tokens of the prompt that was sent.
    pub sent: u64,
    /// Whether the numbers are estimates.
    pub estimated: bool,
    /// What was left out, in words; empty where the role does not say.
    pub left_out: String,
}

impl ShortenedPrompt {
    /// Exact numbers of tokens: of the whole prompt, and of the shorter one that was sent. What was left out is not told.
    pub fn new(whole: u64, sent: u64) -> Self {
        Self {
            whole,
            sent,
            estimated: false,
            left_out: String::new(),
        }
    }
}

/// A generation of a role's model.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleGeneration {
    /// The role.
    pub role: Role,
    /// The generation.
    pub record: GenerationRecord,
}

impl RoleGeneration {
    /// A generation that a role's model wrote.
    pub fn new(role: Role, record: GenerationRecord) -> Self {
        Self { role, record }
    }
}

impl Played {
    /// An answer that needed no model.
    pub fn of(answer: RoleAnswer) -> Self {
        Self {
            answer,
            fallback: false,
            unreadable: Vec::new(),
            notes: Vec::new(),
            shortened: None,
            usage: Usage::default(),
            generations: Vec::new(),
        }
    }

    /// The parser's error texts, in order, joined into one line.
    pub(crate) fn why_unreadable(&self) -> String {
        let reasons = self.unreadable.iter().map(|one| one.reason.as_str());
        reasons.collect::<Vec<_>>().join("; then: ")
    }
}

/// A model output that could not be parsed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The output.
    pub text: String,
    /// The parser's error text.
    pub reason: String,
}

impl Unreadable {
    /// A model's output, and the parser's error text.
    pub fn new(text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            reason: reason.into(),
        }
    }
}

/// A role or a test case that failed, with the tokens that were used before it failed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedCall {
    /// The reason of the failure.
    pub error: Error,
    /// The tokens that were used before it failed.
    pub usage: Usage,
    /// A role's outputs that could not be parsed, in order: two where that is the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Unreadable>,
    /// How a role's prompt was made to fit, as in [`Played::shortened`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened: Option<ShortenedPrompt>,
    /// A role's generations before it failed, as in [`Played::generations`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generations: Vec<RoleGeneration>,
}

/// Tokens used by roles and test cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallUsage {
    /// By calls that gave an answer.
    pub(crate) answered: Usage,
    /// By calls that failed.
    pub(crate) failed: Usage,
}

impl CallUsage {
    pub(crate) fn add(&mut self, more: Self) {
        self.answered.add(more.answered);
        self.failed.add(more.failed);
    }

    /// By all calls.
    pub(crate) fn total(self) -> Usage {
        let mut total = self.answered;
        total.add(self.failed);
        total
    }
}

impl From<Error> for FailedCall {
    /// A call that failed before a model answered.
    fn from(error: Error) -> Self {
        Self {
            error,
            usage: Usage::default(),
            unreadable: Vec::new(),
            shortened: None,
            generations: Vec::new(),
        }
    }
}

/// The result of a commit.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitDone {
    /// Every commit since this commit's base, this commit last.
    pub committed: Vec<Committed>,
    /// How many times the commit was rebased because another writer committed first.
    pub rebased: u32,
    /// Whether it was not made: other writers have changed skills since its base, and its drafts have to be compared with
    /// them, or the host has decided about a skill that it decides about. Then `committed` are theirs, and the run asks for
    /// another commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overtaken: bool,
}

impl CommitDone {
    /// A commit that was made at once: every commit since its base, and it last.
    pub fn new(committed: Vec<Committed>) -> Self {
        Self {
            committed,
            rebased: 0,
            overtaken: false,
        }
    }
}

/// The answer to a [`Question`](crate::policy::Question), or the result of a commit. A failure of the host's part is an
/// answer too.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The candidates for a query.
    Retrieved(Result<Vec<Candidate>>),
    /// The log-probabilities of skills, in the order of the question.
    Scored(Result<Vec<SkillScores>>),
    /// The fitted threshold of a gate; `None` where the model that scores needs none.
    Fitted(Result<Option<Box<FittedThreshold>>>),
    /// The trajectory of an attempt.
    Attempted(Result<Box<Trajectory>>),
    /// The verdict on an attempt.
    Judged(Result<Verdict>),
    /// A role's answer; `None` where the host gave no model or no roles.
    Played(Result<Option<Played>, FailedCall>),
    /// The result of a test case.
    Tried(Result<CaseRun, FailedCall>),
    /// Embeddings, in the order of the texts; `None` where the host gave no embedder.
    Embedded(Result<Option<Vec<Embedding>>>),
    /// An exact information gain; `None` where the host gave no scorer or no prompt format, or the attempts hold no model output
    /// that can be scored.
    Gained(Result<Option<InformationGain>>),
    /// The result of a commit.
    Committed(CommitDone),
}

impl Answer {
    /// The tokens of a role or a test case; none for other answers. An attempt's are in its trajectory.
    pub(crate) fn usage(&self) -> CallUsage {
        let (mut answered, mut failed) = <(Usage, Usage)>::default();
        match self {
            Self::Played(Ok(Some(played))) => answered = played.usage,
            Self::Tried(Ok(run)) => answered = run.usage,
            Self::Played(Err(call)) | Self::Tried(Err(call)) => failed = call.usage,
            _ => {}
        }
        CallUsage { answered, failed }
    }

    /// How a role's call went; `None` for other answers, and where the host gave no model or no roles.
    pub(crate) fn role_counts(&self) -> Option<RoleCounts> {
        let (unreadable, fell_back, shortened) = match self {
            Self::Played(Ok(Some(played))) => (
                played.unreadable.len(),
                Some(played.fallback),
                &played.shortened,
            ),
            Self::Played(Err(call)) => (call.unreadable.len(), None, &call.shortened),
            _ => return None,
        };
        let never_read = fell_back == Some(true) || (fell_back.is_none() && unreadable > 1);
        Some(RoleCounts {
            asked: 1,
            repaired: u64::from(fell_back == Some(false) && unreadable > 0),
            unreadable: u64::from(never_read),
            failed: u64::from(fell_back.is_none() && !never_read),
            shortened: u64::from(shortened.is_some()),
        })
    }

    /// The tokens of a role's whole prompt, where a shorter one was sent.
    pub(crate) fn whole_prompt(&self) -> Option<u64> {
        let shortened = match self {
            Self::Played(Ok(Some(played))) => played.shortened.as_ref(),
            Self::Played(Err(call)) => call.shortened.as_ref(),
            _ => None,
        };
        shortened.map(|prompt| prompt.whole)
    }
}
