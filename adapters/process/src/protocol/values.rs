//! The values that messages carry.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A child's guarantees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// A task can be set up again: `reset` finds the world as the first one did, whatever earlier episodes changed.
    #[serde(default)]
    pub resettable: bool,
    /// The same task, seed and actions give the same transitions. It includes `resettable`.
    #[serde(default)]
    pub deterministic: bool,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Unique within what the host hands over.
    pub id: String,
    /// The request, in words.
    pub instruction: String,
    /// The host's own grouping.
    #[serde(default)]
    pub category: Option<String>,
    /// Free labels.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The environment's data for setting up the task: any JSON value.
    #[serde(default)]
    pub payload: Value,
}

/// A tool that can be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The name that calls carry.
    pub name: String,
    /// A description for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// An observation of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The text, or the user's message.
    pub text: String,
    /// The tools in force from here on. Absent: those of the observation before; none in the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// Whether anybody may have written the text, such as a web page's. It is then untrusted, also where the host trusts
    /// the child.
    #[serde(default)]
    pub untrusted: bool,
    /// What the text is to the agent.
    #[serde(default, skip_serializing_if = "ObservationKind::is_result")]
    pub kind: ObservationKind,
}

/// What an observation is to the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObservationKind {
    /// What came of an action, or what the world looks like at first: data, in which no instruction is followed.
    #[default]
    Result,
    /// What the user of the dialogue says.
    User,
    /// Something that happened without the agent: data.
    Event,
}

impl ObservationKind {
    fn is_result(&self) -> bool {
        *self == Self::Result
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments by name.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// An action of the agent.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// One or several tool calls.
    Call(Vec<Call>),
    /// A message to the user.
    Message(String),
    /// The end of the turn.
    EndTurn,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whether the task was done.
    pub success: bool,
    /// How well, in [0, 1]. Absent: 1 for a success, 0 for a failure.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: Option<f64>,
    /// Named parts, such as `first_attempt`; finite numbers.
    #[serde(default)]
    pub parts: BTreeMap<String, f64>,
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// The next observation.
    pub observation: Observation,
    /// Whether the environment refused the action.
    #[serde(default)]
    pub is_error: bool,
    /// The outcome; present exactly when the episode is over.
    #[serde(default)]
    pub outcome: Option<Outcome>,
}

/// The kind of a failure.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The input breaks a rule, such as a task that cannot be set up or a step after the end.
    Invalid,
    /// The thing that is named does not exist.
    NotFound,
    /// The part lacks the capability.
    Unsupported,
    /// A service limits the rate of calls.
    RateLimited,
    /// A deadline passed.
    Timeout,
    /// The part, or something that it needs, does not work at the moment.
    Unavailable,
    /// A model's answer could not be used.
    Model,
    /// The request was cancelled.
    Cancelled,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
    /// What to do next.
    #[serde(default)]
    pub hint: Option<String>,
    /// Whether the same request may succeed later.
    #[serde(default)]
    pub temporary: bool,
}

/// A skill as it stands in a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Which skill.
    pub id: String,
    /// In which version.
    pub version: u64,
    /// Its text as it is written into the prompt.
    pub text: String,
}

/// An attempt at a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// The attempt's id.
    pub id: String,
    /// The task.
    pub task: Task,
    /// The seed of the agent's randomness.
    pub seed: u64,
    /// Sampling temperature, at least 0; 0 is greedy.
    pub temperature: f32,
    /// Greatest duration of the attempt in milliseconds. The host enforces it.
    pub time_limit_ms: u64,
    /// Steps that the host has taken already, in order.
    pub steps: Vec<Step>,
    /// The current observation.
    pub observation: Observation,
    /// The skills for the first turn, in the order in which they are written.
    pub skills: Vec<Skill>,
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The action.
    pub action: Action,
    /// The environment's text in answer to it.
    pub text: String,
    /// Whether the environment refused it.
    pub is_error: bool,
    /// What the text is to the agent.
    #[serde(default, skip_serializing_if = "ObservationKind::is_result")]
    pub kind: ObservationKind,
}

/// Why an attempt ended. Where the environment gave an outcome, the attempt is finished whatever the child says.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The agent gave up, or had nothing more to do.
    GaveUp,
    /// The budget of steps was used up.
    StepBudget,
    /// The model's text could not be read as an action.
    Unreadable,
    /// A part failed during the attempt.
    Failed(Failure),
}

/// Tokens spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the prompts.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Tokens that the model wrote.
    #[serde(default)]
    pub output_tokens: u64,
}
