//! Observations, actions, steps and trajectories of attempts.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Compaction, Injection, SkillRef, SkillUse, Taint, Trust, skill_use},
    error::Error,
    id::{AttemptId, ModelId, Seed, TaskId},
};

/// Where an observation came from.
///
/// ```
/// use journeyman::domain::{Source, Trust};
///
/// assert_eq!(Source::trusted("desk").trust, Trust::Trusted);
/// // Anybody may have written a web page: a skill that is learned from it waits in quarantine.
/// assert_eq!(Source::untrusted("web").trust, Trust::Untrusted);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The source's name, such as `toolworld`.
    pub name: String,
    /// The host's trust in it.
    pub trust: Trust,
}

impl Source {
    /// A source, and how far the host trusts it.
    pub fn new(name: impl Into<String>, trust: Trust) -> Self {
        Self {
            name: name.into(),
            trust,
        }
    }
}

/// A tool that can be called now.
///
/// ```
/// use journeyman::domain::ToolDefinition;
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "ticket": { "type": "integer" } },
///     "required": ["ticket"],
/// });
/// let close = ToolDefinition::new("close", "Closes a ticket.", schema);
/// assert_eq!(close.input_schema["required"][0], "ticket");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name that calls carry.
    pub name: String,
    /// A description for the model.
    pub description: String,
    /// JSON Schema of its arguments; the order of `required` is the order in which they are written.
    pub input_schema: serde_json::Value,
}

/// An observation of the agent.
///
/// ```
/// use journeyman::domain::{Observation, Source, ToolDefinition};
/// use serde_json::json;
///
/// let close = ToolDefinition::new("close", "Closes a ticket.", json!({ "type": "object" }));
/// let seen = Observation::new("Ticket 17 is open.", Source::trusted("desk")).with_tools(vec![close]);
/// assert_eq!(seen.tools[0].name, "close");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The text, or the user's message.
    pub text: String,
    /// The tools in force from here on.
    pub tools: Vec<ToolDefinition>,
    /// The source of the text.
    pub source: Source,
    /// What the text is to the agent.
    #[serde(default, skip_serializing_if = "ObservationKind::is_result")]
    pub kind: ObservationKind,
}

/// A call of a tool.
///
/// ```
/// use journeyman::domain::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("close", json!({ "ticket": 17 }));
/// assert_eq!(call.arguments["ticket"], 17);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments by name.
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

/// An action of the agent.
///
/// ```
/// use journeyman::domain::{Action, ToolCall};
/// use serde_json::json;
///
/// let verify = ToolCall::new("verify", json!({ "ticket": 17 }));
/// let close = ToolCall::new("close", json!({ "ticket": 17 }));
/// let both = Action::Call(vec![verify, close]);
/// assert!(both.has_call("close"));
/// assert_eq!(both.to_json().lines().count(), 2);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// One or several tool calls.
    Call(Vec<ToolCall>),
    /// A message to the user.
    Message(String),
    /// The end of the turn.
    EndTurn,
}

/// How a task ended, by the environment's own account.
///
/// ```
/// use journeyman::domain::Outcome;
///
/// let outcome = Outcome::scored(true, 0.8).with_part("first_attempt", 0.6);
/// assert!(outcome.success);
/// assert_eq!(outcome.parts["first_attempt"], 0.6);
/// assert_eq!(Outcome::from(false), Outcome::failure());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether the task was done.
    pub success: bool,
    /// How well, in [0, 1].
    pub score: f64,
    /// Named parts, such as `first_attempt`.
    pub parts: BTreeMap<String, f64>,
}

/// The result of a step of an episode.
///
/// ```
/// use journeyman::domain::{Observation, Outcome, Source, Transition};
///
/// let seen = |text: &str| Observation::new(text, Source::trusted("desk"));
/// assert!(Transition::refused(seen("Verify the customer first.")).is_error);
/// let last = Transition::end(seen("The ticket is closed."), Outcome::success());
/// assert_eq!(last.outcome, Some(Outcome::success()));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// The next observation.
    pub observation: Observation,
    /// Whether the environment refused the action.
    pub is_error: bool,
    /// The outcome; present exactly when the episode is over.
    pub outcome: Option<Outcome>,
}

/// The result of a step's action.
///
/// ```
/// use journeyman::domain::{Source, StepResult};
///
/// let desk = Source::trusted("desk");
/// assert!(!StepResult::new("The ticket is closed.", desk.clone()).is_error);
/// assert!(StepResult::refused("Verify the customer first.", desk).is_error);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// The environment's text.
    pub text: String,
    /// Whether the environment refused the action.
    pub is_error: bool,
    /// The source of the text.
    pub source: Source,
    /// What the text is to the agent: that of the observation after the action.
    #[serde(default, skip_serializing_if = "ObservationKind::is_result")]
    pub kind: ObservationKind,
}

/// A token's number in its model's vocabulary.
pub type TokenId = i32;

/// The sampling of tokens.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f32,
    /// Nucleus: the smallest set of tokens with at least this probability; 1 keeps all.
    pub top_p: f32,
    /// The seed of the draws.
    pub seed: Seed,
}

impl Sampling {
    /// Sampling at a temperature from the likeliest tokens that have `top_p` together.
    pub const fn new(temperature: f32, top_p: f32, seed: Seed) -> Self {
        Self {
            temperature,
            top_p,
            seed,
        }
    }
}

impl Sampling {
    /// The most probable token each time.
    pub const GREEDY: Self = Self {
        temperature: 0.0,
        top_p: 1.0,
        seed: Seed(0),
    };
}

/// A generation's data for a trainer.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerationRecord {
    /// The prompt's tokens.
    pub prompt_ids: Vec<TokenId>,
    /// The tokens after the prompt.
    pub ids: Vec<TokenId>,
    /// The log-probability (nats) of each of `ids` at temperature 1.
    pub logprobs: Vec<f32>,
    /// For each of `ids` whether the model chose it (a harness may have written some).
    pub mask: Vec<bool>,
    /// The sampling.
    pub sampling: Sampling,
    /// The model.
    pub model: ModelId,
    /// The adapter (LoRA), if any.
    pub adapter: Option<String>,
}

impl GenerationRecord {
    /// A greedy generation without an adapter, all tokens of which the model chose.
    pub fn new(
        model: impl Into<ModelId>,
        prompt_ids: Vec<TokenId>,
        ids: Vec<TokenId>,
        logprobs: Vec<f32>,
    ) -> Self {
        Self {
            mask: vec![true; ids.len()],
            prompt_ids,
            ids,
            logprobs,
            sampling: Sampling::GREEDY,
            model: model.into(),
            adapter: None,
        }
    }
}

/// One step: observation, action and result.
///
/// ```
/// use journeyman::domain::{Action, Observation, Source, Step, StepResult};
/// use serde_json::json;
///
/// let desk = || Source::trusted("desk");
/// let call = Action::call("close", json!({ "ticket": 17 }));
/// let step = Step::new(call, StepResult::new("The ticket is closed.", desk()))
///     .seeing(Observation::new("Ticket 17 is open.", desk()))
///     .saying("I close the ticket.");
/// assert_eq!(step.words(), "I close the ticket.");
/// assert!(!step.ends_turn());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// From 0, in order.
    pub index: u32,
    /// Which turn of the task, from 0.
    pub turn: u32,
    /// The actor, such as `agent`.
    pub actor: String,
    /// The observation before the action.
    pub observation: Observation,
    /// The action.
    pub action: Action,
    /// The result of the action.
    pub result: StepResult,
    /// The agent's own words for this step as its model saw them, where there are any.
    pub transcript: String,
    /// The generations behind it, where the model gives them.
    pub generations: Vec<GenerationRecord>,
    /// What was passed over in the agent's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<StepNote>,
}

/// The last turn of an attempt, if its text could not be read as an action ([`EndReason::Unreadable`]). It is no step, but it
/// shows a person what went wrong, and a trainer learns from it too.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnreadTurn {
    /// The observation before it.
    pub observation: Observation,
    /// The agent's own words, as for a [`Step`].
    pub transcript: String,
    /// Why they are no action; empty where that was not kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The generations behind it, where the agent records them.
    pub generations: Vec<GenerationRecord>,
}

impl UnreadTurn {
    /// A turn that could not be read, without a reason.
    pub fn new(observation: Observation, transcript: impl Into<String>) -> Self {
        Self {
            observation,
            transcript: transcript.into(),
            reason: String::new(),
            generations: Vec::new(),
        }
    }
}

/// Why a trajectory ended.
///
/// ```
/// use journeyman::domain::EndReason;
///
/// let short = EndReason::ContextLength { prompt: 9_000, context: 8_192 };
/// assert!(short.to_string().contains("too short"));
/// assert_eq!(EndReason::GaveUp.to_string(), "the agent gave up");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The environment said that it is over.
    Finished,
    /// The agent gave up or had nothing more to do.
    GaveUp,
    /// The budget of steps was used up.
    StepBudget,
    /// The time was used up.
    Deadline,
    /// The model's text could not be read as an action.
    Unreadable,
    /// The context of the agent's model was too short: even the shortest prompt did not fit, or it cut the model's answer off.
    /// The attempt says nothing about a skill: it is not judged, and nothing is credited for it.
    ContextLength {
        /// Tokens of the prompt.
        prompt: u64,
        /// Tokens of the context, for prompt and answer together.
        context: u64,
    },
    /// A part failed during the attempt.
    Failed(Error),
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("the environment said that it is over"),
            Self::GaveUp => f.write_str("the agent gave up"),
            Self::StepBudget => f.write_str("the steps were used up"),
            Self::Deadline => f.write_str("the time was used up"),
            Self::Unreadable => {
                f.write_str("what the agent's model wrote could not be read as an action")
            }
            Self::ContextLength { prompt, context } => write!(
                f,
                "the context of {context} tokens is too short for the agent's prompt of {prompt} tokens and an answer"
            ),
            Self::Failed(error) => write!(f, "a part failed: {error}"),
        }
    }
}

/// A skill that was in an attempt's prompt, and whether the agent followed it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Whether the agent followed it, over all turns: followed beats not followed, and both beat unknown.
    #[serde(deserialize_with = "skill_use::stored")]
    pub used: SkillUse,
    /// The number of the step before which it first stood in the prompt.
    #[serde(default)]
    pub since: u32,
}

impl Exposure {
    /// A skill of the first prompt.
    pub fn new(skill: SkillRef, used: SkillUse) -> Self {
        Self {
            skill,
            used,
            since: 0,
        }
    }
}

/// A chosen skill that was left out because its text is longer than the rest of the prompt's token budget.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Number of tokens of its text.
    pub tokens: usize,
    /// Number of tokens that were left.
    pub room: usize,
}

/// One attempt at a task, from the first observation to the end.
///
/// ```
/// use journeyman::{Seed, domain::{Action, EndReason, Outcome, Source, Step, StepResult, Trajectory}};
/// use serde_json::json;
///
/// let mut trajectory = Trajectory::new("run/0/0".into(), "ticket-17".into(), Seed(7));
/// let closed = StepResult::new("closed", Source::trusted("ticket desk"));
/// trajectory.push(Step::new(Action::call("close", json!({"ticket": "T-7"})), closed));
/// trajectory.outcome = Some(Outcome::success());
/// trajectory.end = EndReason::Finished;
/// assert_eq!(trajectory.steps[0].index, 0);
/// assert!(trajectory.fault().is_none());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Version of the JSON form: [`Trajectory::SCHEMA`].
    pub schema: u32,
    /// Which attempt.
    pub attempt: AttemptId,
    /// The task.
    pub task: TaskId,
    /// The seed of the attempt's randomness.
    pub seed: Seed,
    /// The model that acted, with its adapter; `None` where the agent does not say, as in a host's own loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// In order.
    pub steps: Vec<Step>,
    /// The skills that were in its prompts.
    pub exposures: Vec<Exposure>,
    /// The skills of its prompts as they were written there: those of the first turn, then those that later turns added.
    /// `exposures` has the step from which each was there.
    #[serde(default, skip_serializing_if = "Injection::is_empty")]
    pub injection: Injection,
    /// The chosen skills that did not fit into the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Why the skills of a later turn could not be chosen, the first time that it happened. Those of the turn before stayed to the
    /// end of the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Error>,
    /// The last turn, if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Box<UnreadTurn>>,
    /// What its prompts left out so that they fit the model's context. The steps here are whole.
    #[serde(default, skip_serializing_if = "Compaction::is_none")]
    pub compaction: Compaction,
    /// The environment's outcome, where it gave one.
    pub outcome: Option<Outcome>,
    /// Why it ended.
    pub end: EndReason,
    /// The tokens spent.
    pub usage: Usage,
}

impl Trajectory {
    /// The version of the JSON form.
    pub const SCHEMA: u32 = 2;

    /// The error of a part that ended the attempt before the environment gave an outcome. Such an attempt is no evidence about
    /// the agent: it is not judged, and nothing is credited or learned for it.
    pub fn fault(&self) -> Option<&Error> {
        match (&self.end, &self.outcome) {
            (EndReason::Failed(error), None) => Some(error),
            _ => None,
        }
    }

    /// Whether the attempt ended for want of context before the environment gave an outcome.
    pub fn lacks_context(&self) -> bool {
        matches!(self.end, EndReason::ContextLength { .. }) && self.outcome.is_none()
    }

    /// Tainted where anything that the agent read is of an untrusted source, or a skill in quarantine was in a prompt: skills
    /// made from it start quarantined (J7).
    pub fn taint(&self) -> Taint {
        let trusted = |step: &Step| {
            step.observation.source.trust == Trust::Trusted
                && step.result.source.trust == Trust::Trusted
        };
        match self.injection.has_quarantined() || !self.steps.iter().all(trusted) {
            true => Taint::Tainted,
            false => Taint::Clean,
        }
    }

    /// Whether the attempt says something about the agent and its skills: neither a part's [`fault`](Self::fault) nor
    /// [want of context](Self::lacks_context) ended it. Only such an attempt is judged, credited and learned from.
    pub fn is_evidence(&self) -> bool {
        self.fault().is_none() && !self.lacks_context()
    }
}

/// Something in an agent's words that was passed over, so that the step could be taken.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepNote {
    /// The words cite a skill that did not stand in the prompt.
    AbsentSkillCited,
    /// A first answer could not be read as an action, and the model was asked again.
    AskedAgain,
    /// A call was not written as its tool wants it, in the spelling of the name or the types of values, and was put right without
    /// loss.
    Repaired,
}

impl fmt::Display for StepNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AbsentSkillCited => "the answer cites a skill that is not there",
            Self::AskedAgain => "an answer that could not be used was asked for again",
            Self::Repaired => {
                "a call was put right: the spelling of its name, or the types of its values"
            }
        })
    }
}

/// What an observation is to the agent: what came of its action, a user's words, or something that happened.
///
/// A prompt format gives a user's words to the model as the user's own turn, and everything else as data in which no instruction is
/// followed. So an environment says [`User`](Self::User) where a person speaks to the agent, and nowhere else; how far the
/// text is trusted is said by its [`Source`](super::Source), whatever the kind.
///
/// ```
/// use journeyman::domain::{Observation, ObservationKind, Source};
///
/// let asks = Observation::new("And now the second one, please.", Source::trusted("desk"));
/// assert_eq!(asks.kind, ObservationKind::Result);
/// assert_eq!(asks.by_user().kind, ObservationKind::User);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationKind {
    /// What came of an action, such as a tool's output, or what the world looks like at first: data.
    #[default]
    Result,
    /// What the user of the dialogue says: a request, an answer to a question.
    User,
    /// Something that happened without the agent, such as an alarm: data.
    Event,
}

impl ObservationKind {
    /// Whether it is the default, which is not written.
    pub(crate) fn is_result(&self) -> bool {
        *self == Self::Result
    }
}

/// Tokens spent.
///
/// ```
/// use journeyman::domain::Usage;
///
/// let mut usage = Usage::new(1_200, 80);
/// usage.add(Usage::new(1_300, 40));
/// assert_eq!(usage.total(), 2_620);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompts, each turn's whole prompt counted once by its last generation.
    pub prompt_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
}

impl Usage {
    /// Tokens of prompts, and tokens that a model wrote.
    pub fn new(prompt_tokens: u64, output_tokens: u64) -> Self {
        Self {
            prompt_tokens,
            output_tokens,
        }
    }

    /// Adds more tokens. Counts may come from another program, so a sum that is too great stays at `u64::MAX`.
    pub fn add(&mut self, more: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(more.prompt_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
    }

    /// Prompt and output together, at most `u64::MAX`.
    pub fn total(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.output_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_tokens_stay_at_the_greatest_number() {
        let check = |counts: [(u64, u64); 2], expect: (u64, u64), total: u64| {
            let [mut sum, more] = counts.map(|(prompt_tokens, output_tokens)| Usage {
                prompt_tokens,
                output_tokens,
            });
            sum.add(more);
            assert_eq!((sum.prompt_tokens, sum.output_tokens), expect);
            assert_eq!(sum.total(), total);
        };
        check([(1, 2), (3, 4)], (4, 6), 10);
        check([(u64::MAX, 1), (1, 1)], (u64::MAX, 2), u64::MAX);
        check([(0, u64::MAX), (5, 1)], (5, u64::MAX), u64::MAX);
    }
}
