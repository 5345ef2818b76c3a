//! The roles that a model plays besides the agent: prompts, answers and their parsers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{GenerateRequest, RoleTask};
use crate::{
    domain::{
        CaseKind, Judgement, Lesson, Role, RoleRule, Rubric, Segmentation, SkillDraft,
        SubgoalScore, ToolCall,
    },
    error::Result,
    id::Seed,
};

/// A request to a role.
#[derive(Clone, Copy, Debug)]
pub struct RoleRequest<'a> {
    /// The task.
    pub task: &'a RoleTask,
    /// The seed of the sampling.
    pub seed: Seed,
    /// The answer that could not be read, where this request is its repair; a role is repaired once.
    pub failed: Option<FailedAnswer<'a>>,
    /// The greatest length of the prompt in characters, where the whole prompt is too long for the model's context.
    pub room: Option<usize>,
}

impl<'a> RoleRequest<'a> {
    /// The first request to a role, without a limit on the prompt's length.
    pub fn new(task: &'a RoleTask, seed: Seed) -> Self {
        Self {
            task,
            seed,
            failed: None,
            room: None,
        }
    }
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

/// A skill of a bank as a role writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BankDraft {
    /// The skill of the bank that it refines, as an index among those that were shown; `None` for a new one.
    pub refines: Option<usize>,
    /// The skill.
    pub draft: SkillDraft,
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
    /// A refined skill that needs other tools: an answer of refine where its task is `whole`.
    Revision {
        /// The skill.
        draft: Box<SkillDraft>,
        /// All tools that it needs from now on ([`Skill::allowed_tools`](crate::domain::Skill::allowed_tools)).
        tools: Vec<String>,
    },
    /// The reason why the skill is to be archived: an answer of refine where its task is `whole`.
    Archive(String),
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
    /// The subgoals of an attempt: the answer of segment.
    Segments {
        /// The subgoals.
        segmentation: Segmentation,
        /// Whether the spans had to be repaired.
        repaired: bool,
    },
    /// What subgoals have in common: the answer of distil-prototype.
    Rubric(Box<Rubric>),
    /// The prototype of a subgoal: the answer of route.
    Routed {
        /// The index among the prototypes that were shown; `None` where none fits.
        prototype: Option<usize>,
        /// How sure the model is, in [0, 1].
        confidence: f64,
    },
    /// The score of a subgoal: the answer of score.
    Scored {
        /// The score.
        score: SubgoalScore,
        /// The reason for it, in words.
        reason: String,
    },
    /// Calls of `insert_skill`, `update_skill` and `delete_skill` as the model wrote them, in order; none to leave the library
    /// as it is: the answer of curate. They are checked against their schema and the library before they apply
    /// ([`CurateCall`](crate::propose::CurateCall)).
    Calls(Vec<ToolCall>),
    /// The skills that a task needs: the answer of tag.
    Tags(Vec<String>),
    /// What a failed attempt teaches: the answer of lesson.
    Lesson(Lesson),
    /// Skills of a bank: the answer of distil-bank.
    Bank(Vec<BankDraft>),
    /// The quality of a skill's text: the answer of review.
    Reviewed {
        /// The quality, in [0, 1]: the score as a share of the greatest one, 3.
        quality: f64,
        /// The reason for it, in words.
        reason: String,
    },
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
/// let request = RoleRequest::new(&task, journeyman::Seed(7));
/// let rules = vec![RoleRule::new("Name the tool.")?];
/// assert_eq!(RulesOnly.read(&request, "Name the tool.\n")?, RoleAnswer::Rules(rules));
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// # Behavior
/// - *pure*: the same request gives the same prompt, the same text the same answer.
/// - *garbage*: no text makes `read` panic; what cannot be read is a `Model` error that says what was wrong.
/// - *fits*: the answer is of the role that was asked, a draft's description has 1 to 1,024 characters and its body is not
///   empty, a case's first step is one of the attempt's, and there are at most [`RoleRule::MOST`] rules. Subgoals have each
///   step of the attempt exactly once, a rubric has a checklist, a routed prototype is one of those that were shown and the
///   confidence is in [0, 1], a lesson's step is one of the attempt's, a refined skill is one of those that were shown, the
///   quality of a skill's text is in [0, 1], and refine names tools or archives only where its task is `whole`.
/// - *repair*: the prompt of a repair is another one, or samples otherwise.
/// - *fallback*: `fallback` gives a draft for any summary that is asked for.
/// - *room*: a prompt with `room` is at most that long, or as short as the role can make it; it is never longer than the prompt
///   without. What was left out, `left_out` says in words.
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

    /// What the prompt of this request leaves out to fit its `room`, in words for a report; `None` where it is whole.
    fn left_out(&self, request: &RoleRequest<'_>) -> Option<String> {
        let _ = request;
        None
    }

    /// What `read` passes over or shortens in a text that it accepts, in words for a report. No note repeats the text.
    fn notes(&self, request: &RoleRequest<'_>, text: &str) -> Vec<String> {
        let _ = (request, text);
        Vec::new()
    }

    /// A substitute for an answer that cannot be read, made without a model; `None` where there is none. A summary has one:
    /// the skill made from the first attempt alone (ARISE D.1, trace abstraction); of one without a call where the task
    /// says so, and the roles have one.
    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer>;

    /// Whether this model plays a role. A session reports the roles of its recipe that the model does not play
    /// ([`Journeyman::findings`](crate::run::Journeyman::findings)).
    fn plays(&self, role: Role) -> bool {
        let _ = role;
        true
    }
}
