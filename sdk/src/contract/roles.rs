//! The roles that a model plays besides the agent: prompts, answers and their parsers.

use std::{fmt, num::NonZeroUsize};

use serde::{Deserialize, Serialize};

use crate::{
    contract::GenerateRequest,
    domain::{
        CaseKind, Judgement, Lesson, Prototype, Role, RoleRule, Rubric, Segmentation, Skill,
        SkillDraft, Subgoal, SubgoalScore, Task, ToolCall, Trace,
    },
    error::Result,
    id::{Category, Seed},
};

/// A request to a role.
#[non_exhaustive]
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
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedAnswer<'a> {
    /// The answer.
    pub text: &'a str,
    /// Why it could not be read, in words.
    pub reason: &'a str,
}

impl<'a> FailedAnswer<'a> {
    /// An answer, and why it could not be read.
    pub fn new(text: &'a str, reason: &'a str) -> Self {
        Self { text, reason }
    }
}

/// A case as a role proposes it: a fragment of the attempt that it was shown.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseDraft {
    /// The kind.
    pub kind: CaseKind,
    /// The first step of the fragment, from 0: the steps before it are played, from it on the agent acts.
    pub from: usize,
    /// The subject of the check, in words.
    pub about: String,
}

impl CaseDraft {
    /// A case of this kind from a step on, and what it is about.
    pub fn new(kind: CaseKind, from: usize, about: impl Into<String>) -> Self {
        Self {
            kind,
            from,
            about: about.into(),
        }
    }
}

/// A skill of a bank as a role writes it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BankDraft {
    /// The skill of the bank that it refines, as an index among those that were shown; `None` for a new one.
    pub refines: Option<usize>,
    /// The skill.
    pub draft: SkillDraft,
}

impl BankDraft {
    /// A new skill.
    pub fn new(draft: SkillDraft) -> Self {
        Self {
            refines: None,
            draft,
        }
    }
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
    /// ([`CurateCall`](crate::stations::propose::CurateCall)).
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
///         Ok(GenerateRequest::greedy(Prompt::new(messages), 256))
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

// What a role is asked: its task, and the material that it works on.

/// A task of a role.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleTask {
    /// Write one skill from the best successful attempts of a group.
    Summarize {
        /// One or two attempts, the best first.
        attempts: Vec<Trace>,
        /// The greatest length of each attempt in the prompt, in characters; without it the role's own, which it cannot exceed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown_chars: Option<NonZeroUsize>,
        /// Whether the fallback keeps the beginning of what the agent wrote in an attempt without a call
        /// ([`Roles::fallback`](super::Roles::fallback)).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keeps_reasoning: bool,
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
        /// The successful attempts of the group, and the stored ones from which its skills were made; few or none where a host
        /// added the skills. Before them the failed attempts of a skill-revision group
        /// (`papers::hisme::RefactorPolicy::revisions`).
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
        /// Whether the answer may also change the skill's name, kind, scope and tools, or archive it
        /// (`papers::hisme::RefinePolicy::whole`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        whole: bool,
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
    /// Cut an attempt into subgoals.
    Segment {
        /// The attempt.
        attempt: Box<Trace>,
        /// The wording of the request.
        prompt: SegmentPrompt,
    },
    /// Distil a prototype from the subgoals of a cluster.
    DistilPrototype {
        /// Subgoals of the cluster, each in its attempt; at least one, those nearest to the center first.
        members: Vec<SubgoalInAttempt>,
    },
    /// Find the prototype of a subgoal.
    Route {
        /// The subgoal.
        subgoal: Box<SubgoalInAttempt>,
        /// The prototypes to choose from.
        prototypes: Vec<Prototype>,
    },
    /// Score a subgoal.
    Score {
        /// The subgoal.
        subgoal: Box<SubgoalInAttempt>,
        /// The rubric that the score is bound to; `None` for an open judgement.
        rubric: Option<Box<Rubric>>,
        /// The number of this request among the requests for the same subgoal, from 0.
        repeat: u32,
    },
    /// Decide on changes of the library after an attempt.
    Curate {
        /// The attempt.
        attempt: Box<Trace>,
        /// Whether the attempt is judged to have done the task; `None` where that is not known. In a run it is the word of the
        /// host's [`Judge`](crate::contract::Judge), or the agent's own where the judge gives it beside its verdict, as in the paper
        /// ([`Verdict::SELF_JUDGED`](crate::domain::Verdict::SELF_JUDGED)).
        correct: Option<bool>,
        /// The skills that were retrieved for the task.
        skills: Vec<Skill>,
    },
    /// Tag a task with the skills that it needs.
    Tag {
        /// The task.
        task: Box<Task>,
    },
    /// Say what a failed attempt teaches.
    Lesson {
        /// The attempt.
        attempt: Box<Trace>,
    },
    /// Distil the skills of a bank from patterns and lessons.
    DistilBank {
        /// The category of the skills; `None` for general ones.
        category: Option<Category>,
        /// Patterns of successes and lessons of failures, at least one.
        findings: Vec<Finding>,
        /// The skills that the bank has for it.
        skills: Vec<Skill>,
    },
    /// Judge the text of a skill.
    Review {
        /// The skill.
        skill: Box<Skill>,
    },
}

/// A subgoal with the attempt that it belongs to.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubgoalInAttempt {
    /// The attempt.
    pub attempt: Trace,
    /// The subgoal; its steps are steps of the attempt.
    pub subgoal: Subgoal,
}

impl SubgoalInAttempt {
    /// A subgoal of an attempt.
    pub fn new(attempt: Trace, subgoal: Subgoal) -> Self {
        Self { attempt, subgoal }
    }
}

/// The wording of a request to cut an attempt into subgoals (SCRIBE 3.1, A.1).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentPrompt {
    /// The main prompt for attempts with tools (appendix D).
    #[default]
    Main,
    /// The main prompt for reasoning without tools (appendix D).
    Reasoning,
    /// M1: the key intermediate subgoals of a solution.
    Narrative,
    /// M2: every part of a solution in exactly one subgoal.
    Coverage,
    /// T1: the intents that the agent completes.
    Intent,
    /// T2: failures, corrections and fallbacks are subgoals too.
    FailureAware,
}

/// What an attempt at a task taught: an entry of the material that a bank is distilled from (SkillRL 3.1).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The task, in words.
    pub task: String,
    /// The pattern of a success, or the lesson of a failure.
    pub taught: Taught,
}

impl Finding {
    /// What an attempt at a task, in words, taught.
    pub fn new(task: impl Into<String>, taught: Taught) -> Self {
        Self {
            task: task.into(),
            taught,
        }
    }
}

/// A pattern or a lesson.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taught {
    /// The pattern of a success, in words.
    Pattern(String),
    /// The lesson of a failure.
    Lesson(Lesson),
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
            Self::Segment { .. } => Role::Segment,
            Self::DistilPrototype { .. } => Role::DistilPrototype,
            Self::Route { .. } => Role::Route,
            Self::Score { .. } => Role::Score,
            Self::Curate { .. } => Role::Curate,
            Self::Tag { .. } => Role::Tag,
            Self::Lesson { .. } => Role::Lesson,
            Self::DistilBank { .. } => Role::DistilBank,
            Self::Review { .. } => Role::Review,
        }
    }

    /// The attempts in the role's prompt.
    pub fn attempts(&self) -> &[Trace] {
        match self {
            Self::Summarize { attempts, .. }
            | Self::Refactor { attempts, .. }
            | Self::Refine { attempts, .. } => attempts,
            Self::Extract { attempt, .. }
            | Self::Attribute { attempt, .. }
            | Self::Bundle { attempt, .. }
            | Self::Segment { attempt, .. }
            | Self::Curate { attempt, .. }
            | Self::Lesson { attempt } => std::slice::from_ref(attempt.as_ref()),
            Self::Route { subgoal, .. } | Self::Score { subgoal, .. } => {
                std::slice::from_ref(&subgoal.attempt)
            }
            // The attempts of a cluster are with its subgoals.
            Self::DistilPrototype { .. } => &[],
            Self::Evolve { .. }
            | Self::Tag { .. }
            | Self::DistilBank { .. }
            | Self::Review { .. } => &[],
        }
    }
}

/// A version that a role made, with its results: a row of the role's replay buffer (HiSME Eq. 17).
#[non_exhaustive]
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

impl Experience {
    /// A skill and what became of it, without judgements.
    pub fn new(skill: Skill, fate: impl Into<String>) -> Self {
        Self {
            skill,
            helpful: 0,
            harmful: 0,
            other: 0,
            bundle: None,
            before: None,
            fate: fate.into(),
        }
    }
}

/// How many cases of a test bundle a version passes. In JSON an array: `passed`, then `cases`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct BundleCounts {
    /// Number of cases that passed.
    pub passed: u32,
    /// Number of cases in the bundle.
    pub cases: u32,
}

impl BundleCounts {
    /// A number of cases that passed, of a number of cases in the bundle.
    pub fn new(passed: u32, cases: u32) -> Self {
        Self { passed, cases }
    }
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
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct VersionJudgements {
    /// Number of attempts in which the version was judged helpful.
    pub helpful: u32,
    /// Number of attempts in which the version was judged harmful.
    pub harmful: u32,
}

impl VersionJudgements {
    /// Numbers of attempts in which the version was judged helpful, and in which it was judged harmful.
    pub fn new(helpful: u32, harmful: u32) -> Self {
        Self { helpful, harmful }
    }
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
