//! A model's prompt format and output parser.

use std::fmt;

use serde_json::Value;

use super::Generation;
use crate::{
    domain::{
        Action, Injection, Observation, Prompt, Skill, SkillUse, Step, StepNote, Task,
        ToolDefinition,
    },
    error::{Error, Result},
};

/// The state of an agent within a turn.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct TurnView<'a> {
    /// The task.
    pub task: &'a Task,
    /// The skills in force.
    pub injection: &'a Injection,
    /// The current observation.
    pub observation: &'a Observation,
    /// The steps before this turn.
    pub steps: &'a [Step],
    /// The model's answers of this turn so far, in order.
    pub replies: &'a [Generation],
}

impl<'a> TurnView<'a> {
    /// The first turn of an attempt.
    pub fn new(task: &'a Task, injection: &'a Injection, observation: &'a Observation) -> Self {
        Self {
            task,
            injection,
            observation,
            steps: &[],
            replies: &[],
        }
    }
}

/// A text to be scored, with the prompt before it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoringPair {
    /// The prompt.
    pub prompt: Prompt,
    /// The model's text after the prompt, as plain text.
    pub continuation: String,
}

impl ScoringPair {
    /// A text behind a prompt.
    pub fn new(prompt: Prompt, continuation: impl Into<String>) -> Self {
        Self {
            prompt,
            continuation: continuation.into(),
        }
    }
}

/// The question whether a skill fits a query, with its two answers ([`ScoreKind::Fits`](crate::domain::ScoreKind::Fits)).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitQuestion {
    /// The query, the skill and the question.
    pub prompt: Prompt,
    /// The model's answer that the skill fits, as plain text.
    pub fits: String,
    /// The model's answer that it does not.
    pub does_not: String,
}

impl FitQuestion {
    /// A question with the answer that says that the skill fits, and the one that says that it does not.
    pub fn new(prompt: Prompt, fits: impl Into<String>, does_not: impl Into<String>) -> Self {
        Self {
            prompt,
            fits: fits.into(),
            does_not: does_not.into(),
        }
    }
}

/// The next move in a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnMove {
    /// Ask the model for a text.
    Generate {
        /// The prompt.
        prompt: Prompt,
        /// The tools that the model can call by its own interface; only where the prompt format knows that it has one
        /// ([`ModelCapabilities::tools`](super::ModelCapabilities::tools)).
        tools: Vec<ToolDefinition>,
        /// Texts that end the generation.
        stop: Vec<String>,
        /// Greatest number of tokens.
        max_tokens: usize,
        /// A JSON Schema that the text must obey while it is written. A model that cannot hold itself to it writes freely.
        json_schema: Option<Value>,
    },
    /// Take an action.
    Act {
        /// The action.
        action: Action,
        /// The model's text of this turn, as later prompts show it.
        transcript: String,
        /// What the model's text says of each injected skill, in the order of the injection. A skill without an entry has an
        /// unknown use in this turn; an entry without a skill is ignored.
        used: Vec<SkillUse>,
        /// What was passed over in the model's text.
        notes: Vec<StepNote>,
    },
    /// The model's text cannot be read as an action.
    Unreadable {
        /// The reason, for people.
        reason: String,
        /// The model's text of this turn.
        transcript: String,
    },
}

/// A model's prompt format and output parser: it writes the prompt of a turn, reads the model's text as an action, renders a
/// skill, and writes the prompt behind which a skill is scored. Pure: no input or output, no clock, no randomness.
///
/// ```
/// use journeyman::{Result, contract::{PromptFormat, TurnMove, TurnView}};
/// use journeyman::domain::{Action, Message, Prompt, Skill, Speaker};
///
/// /// The model answers each observation with one message.
/// #[derive(Debug)]
/// struct OneMessage;
///
/// impl PromptFormat for OneMessage {
///     fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove> {
///         if let Some(reply) = view.replies.last() {
///             let (action, transcript) = (Action::Message(reply.text.clone()), reply.text.clone());
///             // The text names no skill, so whether the model followed one is unknown.
///             return Ok(TurnMove::Act { action, transcript, used: Vec::new(), notes: Vec::new() });
///         }
///         let skills = view.injection.skills.iter().map(|skill| skill.text.as_str());
///         let text: Vec<&str> = skills.chain([view.observation.text.as_str()]).collect();
///         let prompt = self.score_prompt(&text.join("\n\n"));
///         Ok(TurnMove::Generate { prompt, tools: Vec::new(), stop: Vec::new(), max_tokens: 256, json_schema: None })
///     }
///
///     fn skill_text(&self, skill: &Skill) -> String {
///         format!("{}: {}", skill.name, skill.body)
///     }
///
///     fn score_prompt(&self, query: &str) -> Prompt {
///         Prompt::new(vec![Message::data(Speaker::User, query)])
///     }
/// }
///
/// assert_eq!(OneMessage.score_prompt("brew a coffee").text(), "brew a coffee");
/// ```
///
/// # Behavior
/// - *ends*: for any replies, `turn` reaches `Act` or `Unreadable` within 8 moves.
/// - *pure*: the same view gives the same move.
/// - *used*: `Act::used` says of a skill what the model's text says of it: followed, not followed, or nothing (unknown). A skill
///   is not followed for standing in the prompt, and nothing is said of skills that do not stand there.
/// - *skill text*: `skill_text` is not empty, and is the text that injection and scoring use.
/// - *empty query*: `score_prompt("")` is the same template with an empty query, up to white space around it: PMI's
///   unconditional prefix.
/// - *fit question*: `fit_question` either always succeeds or always is `Unsupported`. Its prompt has the query and the skill's
///   text; its answers are two different texts, the same for all skills.
pub trait PromptFormat: fmt::Debug + Send + Sync {
    /// The next move in a turn.
    ///
    /// # Errors
    /// `Invalid` for an observation that the prompt format cannot write.
    fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove>;

    /// Prompt and continuation of a step that was made, so that the model's words can be scored with and without a skill
    /// (ARISE Eq. 14). `view.steps` are the steps before it. `None` for a step at which the model wrote no plain text.
    ///
    /// # Errors
    /// As `turn`.
    fn scoring_pair(&self, view: &TurnView<'_>, step: &Step) -> Result<Option<ScoringPair>> {
        if step.transcript.trim().is_empty() {
            return Ok(None);
        }
        Ok(match self.turn(view)? {
            TurnMove::Generate { prompt, .. } => Some(ScoringPair {
                prompt,
                continuation: step.transcript.clone(),
            }),
            TurnMove::Act { .. } | TurnMove::Unreadable { .. } => None,
        })
    }

    /// A skill's whole text in the form that this model reads.
    fn skill_text(&self, skill: &Skill) -> String;

    /// The prompt behind which a skill's text is scored (ARISE C.4).
    fn score_prompt(&self, query: &str) -> Prompt;

    /// The question whether a skill, given as its `skill_text`, fits a query. The query stands before the skill where the
    /// format allows it: a scorer can share the part of the prompts that is equal for all candidates.
    ///
    /// # Errors
    /// `Unsupported`, with the reason, where the prompt format cannot ask: the default. A gate by
    /// [`ScoreKind::Fits`](crate::domain::ScoreKind::Fits) then declines, and the session has a finding.
    fn fit_question(&self, query: &str, skill_text: &str) -> Result<FitQuestion> {
        let _ = (query, skill_text);
        Err(Error::unsupported(
            "PromptFormat::fit_question",
            "the prompt format has no question whether a skill fits",
        )
        .hint("choose another score for the gate, or implement `PromptFormat::fit_question`"))
    }
}
