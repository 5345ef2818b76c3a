//! The roles that a model plays besides the agent: prompts, answers and their parsers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::GenerateRequest;
use crate::{
    domain::{CaseKind, Judgement, Role, RoleRule, Skill, SkillDraft, Trace},
    error::Result,
    id::Seed,
};

/// A task of a role.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleTask {
    /// Write one skill from the best successful attempts of a group.
    Summarize {
        /// One or two attempts, the best first.
        attempts: Vec<Trace>,
    },
    /// Write a skill from one attempt.
    Extract {
        /// The attempt.
        attempt: Box<Trace>,
        /// The number of this request among the requests for the same attempt, from 0.
        candidate: u32,
        /// The role's rules.
        rules: Vec<RoleRule>,
    },
    /// Write one skill from the common part of attempts at several tasks, or of several skills.
    Refactor {
        /// The attempts of the group, and the stored attempts from which its skills were made; few or none where a host added
        /// the skills.
        attempts: Vec<Trace>,
        /// The skills in the group, often none.
        skills: Vec<Skill>,
        /// The common part of attempts and skills, in words.
        reason: String,
        /// The group's identity; not part of the prompt.
        group: String,
        /// The role's rules.
        rules: Vec<RoleRule>,
    },
    /// Write a new version of a skill, from attempts that had it in the prompt.
    Refine {
        /// The skill's current version.
        skill: Box<Skill>,
        /// Attempts with the skill in the prompt, the most informative first; at least one.
        attempts: Vec<Trace>,
        /// One line for each case of the skill's test bundle that fails: why it fails.
        failures: Vec<String>,
        /// The role's rules.
        rules: Vec<RoleRule>,
    },
    /// Judge a skill's effect on an attempt.
    Attribute {
        /// The attempt.
        attempt: Box<Trace>,
        /// The skill's index in the attempt's injection, from 0.
        skill: usize,
    },
    /// Propose test cases for a skill, as fragments of an attempt.
    Bundle {
        /// The skill.
        skill: Box<Skill>,
        /// The attempt.
        attempt: Box<Trace>,
    },
    /// Rewrite the rules of another role, from the results of the skill versions that it made.
    Evolve {
        /// The other role.
        role: Role,
        /// That role's present rules.
        rules: Vec<RoleRule>,
        /// The skill versions that it made, each with its results; only versions with enough evidence.
        rows: Vec<Experience>,
    },
}

impl RoleTask {
    /// The role that performs this task.
    pub fn role(&self) -> Role {
        match self {
            Self::Summarize { .. } => Role::Summarize,
            Self::Extract { .. } => Role::Extract,
            Self::Refactor { .. } => Role::Refactor,
            Self::Refine { .. } => Role::Refine,
            Self::Attribute { .. } => Role::Attribute,
            Self::Bundle { .. } => Role::Bundle,
            Self::Evolve { .. } => Role::Evolve,
        }
    }

    /// The attempts in the role's prompt.
    pub fn attempts(&self) -> &[Trace] {
        match self {
            Self::Summarize { attempts }
            | Self::Refactor { attempts, .. }
            | Self::Refine { attempts, .. } => attempts,
            Self::Extract { attempt, .. }
            | Self::Attribute { attempt, .. }
            | Self::Bundle { attempt, .. } => std::slice::from_ref(attempt.as_ref()),
            Self::Evolve { .. } => &[],
        }
    }
}

/// A version that a role made, with its results: a row of the role's replay buffer (HiSME Eq. 17).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experience {
    /// The version.
    pub skill: Skill,
    /// How often it was judged helpful, with every skill that says word for word the same.
    pub helpful: u32,
    /// How often it was judged harmful.
    pub harmful: u32,
    /// How often it was judged neither, or it could not be told.
    pub other: u32,
    /// The result of its test bundle; `None` where it was never tested.
    pub bundle: Option<BundleCounts>,
    /// Judgements of the version that it replaced; `None` for a first version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<VersionJudgements>,
    /// The skill's state now, in words: `active`, `disabled`, `revised`.
    pub fate: String,
}

/// How many cases of a test bundle a version passes. In JSON an array: `passed`, then `cases`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct BundleCounts {
    /// Number of cases that passed.
    pub passed: u32,
    /// Number of cases in the bundle.
    pub cases: u32,
}

impl From<(u32, u32)> for BundleCounts {
    fn from((passed, cases): (u32, u32)) -> Self {
        Self { passed, cases }
    }
}

impl From<BundleCounts> for (u32, u32) {
    fn from(counts: BundleCounts) -> Self {
        (counts.passed, counts.cases)
    }
}

/// How often a version was judged helpful and harmful. In JSON an array: `helpful`, then `harmful`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct VersionJudgements {
    /// Number of attempts in which the version was judged helpful.
    pub helpful: u32,
    /// Number of attempts in which the version was judged harmful.
    pub harmful: u32,
}

impl From<(u32, u32)> for VersionJudgements {
    fn from((helpful, harmful): (u32, u32)) -> Self {
        Self { helpful, harmful }
    }
}

impl From<VersionJudgements> for (u32, u32) {
    fn from(judgements: VersionJudgements) -> Self {
        (judgements.helpful, judgements.harmful)
    }
}

/// A request to a role.
#[derive(Clone, Copy, Debug)]
pub struct RoleRequest<'a> {
    /// The task.
    pub task: &'a RoleTask,
    /// The seed of the sampling.
    pub seed: Seed,
    /// The answer that could not be read, where this request is its repair; a role is repaired once.
    pub failed: Option<FailedAnswer<'a>>,
}

/// A model's answer that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedAnswer<'a> {
    /// The answer.
    pub text: &'a str,
    /// Why it could not be read, in words.
    pub reason: &'a str,
}

/// A case as a role proposes it: a fragment of the attempt that it was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseDraft {
    /// The kind.
    pub kind: CaseKind,
    /// The first step of the fragment, from 0: the steps before it are played, from it on the agent acts.
    pub from: usize,
    /// The subject of the check, in words.
    pub about: String,
}

/// A role's answer.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleAnswer {
    /// The draft of a skill: an answer of summarize, extract, refactor and refine.
    Draft(Box<SkillDraft>),
    /// The reason why no skill is to be written: the other answer of the same roles.
    Nothing(String),
    /// A judgement: the answer of attribute.
    Credit {
        /// The skill's effect.
        judgement: Judgement,
        /// The part of the attempt that the judgement is about, in words; empty for the whole attempt.
        scope: String,
        /// The reason for the judgement, in words.
        reason: String,
    },
    /// Test cases: the answer of bundle.
    Cases(Vec<CaseDraft>),
    /// The complete new rules of the role that was asked about: the answer of evolve.
    Rules(Vec<RoleRule>),
}

/// The prompt and the parser of each role, for one kind of model. Pure: no input or output, no clock, no randomness.
///
/// ```
/// use journeyman::{Error, ErrorKind, Result};
/// use journeyman::contract::{GenerateRequest, RoleAnswer, RoleRequest, RoleTask, Roles};
/// use journeyman::domain::{Message, Prompt, Role, RoleRule, Speaker};
///
/// /// Plays `evolve` alone: the model writes the rules, one a line.
/// #[derive(Debug)]
/// struct RulesOnly;
///
/// impl Roles for RulesOnly {
///     fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
///         let RoleTask::Evolve { role, rows, .. } = request.task else {
///             return Err(Error::unsupported("RulesOnly::prompt", "this role is not played"));
///         };
///         let mut text = format!("Write rules for the role {role}, one a line.\n");
///         for row in rows {
///             text += &format!("{}: helpful {}, harmful {}\n", row.skill.name, row.helpful, row.harmful);
///         }
///         if let Some(failed) = request.failed {
///             text += &format!("Not like this ({}): {}\n", failed.reason, failed.text);
///         }
///         let messages = vec![Message::data(Speaker::User, text)];
///         Ok(GenerateRequest::greedy(Prompt { messages, open: Vec::new() }, 256))
///     }
///
///     fn read(&self, _request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
///         let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
///         let refused = |reason: String| Error::new(ErrorKind::Model, "RulesOnly::read", reason);
///         let rules: Result<Vec<RoleRule>> = lines.map(RoleRule::new).collect();
///         let rules = rules.map_err(|error| refused(error.to_string()))?;
///         match rules.len() {
///             0..=RoleRule::MOST => Ok(RoleAnswer::Rules(rules)),
///             count => Err(refused(format!("{count} rules, and {} is the most", RoleRule::MOST))),
///         }
///     }
///
///     fn fallback(&self, _task: &RoleTask) -> Option<RoleAnswer> {
///         None
///     }
///
///     fn plays(&self, role: Role) -> bool {
///         role == Role::Evolve
///     }
/// }
///
/// let task = RoleTask::Evolve { role: Role::Extract, rules: Vec::new(), rows: Vec::new() };
/// let request = RoleRequest { task: &task, seed: journeyman::Seed(7), failed: None };
/// let rules = vec![RoleRule::new("Name the tool.")?];
/// assert_eq!(RulesOnly.read(&request, "Name the tool.\n")?, RoleAnswer::Rules(rules));
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// # Behavior
/// - *pure*: the same request gives the same prompt, the same text the same answer.
/// - *garbage*: no text makes `read` panic; what cannot be read is a `Model` error that says what was wrong.
/// - *fits*: the answer is of the role that was asked, a draft's description has 1 to 1,024 characters and its body is not
///   empty, a case's first step is one of the attempt's, and there are at most [`RoleRule::MOST`] rules.
/// - *repair*: the prompt of a repair is another one, or samples otherwise.
/// - *fallback*: `fallback` gives a draft for any summary that is asked for.
/// - *unknown*: a role that this model does not play is `Unsupported`, and `plays` says so.
pub trait Roles: fmt::Debug + Send + Sync {
    /// The request to the model.
    ///
    /// # Errors
    /// `Unsupported` for a role that this model does not play; `Invalid` where what is asked about is not there, such as
    /// a skill that did not stand in the attempt's prompt.
    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest>;

    /// Reads the model's answer.
    ///
    /// # Errors
    /// `Model`, saying what was wrong.
    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer>;

    /// A substitute for an answer that cannot be read, made without a model; `None` where there is none. A summary has one:
    /// the skill made from the first attempt alone (ARISE D.1, trace abstraction).
    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer>;

    /// Whether this model plays a role. A session reports the roles of its recipe that the model does not play
    /// ([`Journeyman::findings`](crate::run::Journeyman::findings)).
    fn plays(&self, role: Role) -> bool {
        let _ = role;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_counts_are_arrays_in_json() {
        let (passed, cases) = (2, 3);
        let bundle = BundleCounts { passed, cases };
        assert_eq!(serde_json::to_string(&bundle).unwrap(), "[2,3]");
        assert_eq!(
            serde_json::from_str::<BundleCounts>("[2,3]").unwrap(),
            bundle
        );
        let (helpful, harmful) = (4, 5);
        let judgements = VersionJudgements { helpful, harmful };
        assert_eq!(serde_json::to_string(&judgements).unwrap(), "[4,5]");
        assert_eq!(
            serde_json::from_str::<VersionJudgements>("[4,5]").unwrap(),
            judgements
        );
        assert!(serde_json::from_str::<BundleCounts>("[2]").is_err());
    }
}
