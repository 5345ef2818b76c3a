//! The values that messages carry.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A child's guarantees.
#[non_exhaustive]
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
#[non_exhaustive]
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

impl Task {
    /// A task without a category, tags and a payload.
    pub fn new(id: impl Into<String>, instruction: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            instruction: instruction.into(),
            category: None,
            tags: Vec::new(),
            payload: Value::Null,
        }
    }

    /// The same with a category.
    #[must_use]
    pub fn with_category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }

    /// The same with these tags.
    #[must_use]
    pub fn with_tags(mut self, tags: Vec<String>) -> Self {
        self.tags = tags;
        self
    }

    /// The same with data for the world.
    #[must_use]
    pub fn with_payload(mut self, payload: Value) -> Self {
        self.payload = payload;
        self
    }
}

/// A tool that can be called.
#[non_exhaustive]
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

impl Tool {
    /// A tool and the JSON Schema of its arguments.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
        }
    }
}

/// An observation of the agent.
#[non_exhaustive]
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

impl Observation {
    /// The result of an action, with the tools of before.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tools: None,
            untrusted: false,
            kind: ObservationKind::Result,
        }
    }

    /// The same with the tools in force.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Option<Vec<Tool>>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets whether anybody may have written the text.
    #[must_use]
    pub fn with_untrusted(mut self, untrusted: bool) -> Self {
        self.untrusted = untrusted;
        self
    }

    /// The same with this kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ObservationKind) -> Self {
        self.kind = kind;
        self
    }
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
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments by name.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

impl Call {
    /// A call of a tool.
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            arguments,
        }
    }
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
#[non_exhaustive]
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

impl Outcome {
    /// Done or not, with score 1 or 0.
    pub fn new(success: bool) -> Self {
        Self {
            success,
            score: None,
            parts: BTreeMap::new(),
        }
    }

    /// The same with a score in [0, 1].
    #[must_use]
    pub fn with_score(mut self, score: impl Into<Option<f64>>) -> Self {
        self.score = score.into();
        self
    }

    /// The same with named parts.
    #[must_use]
    pub fn with_parts(mut self, parts: BTreeMap<String, f64>) -> Self {
        self.parts = parts;
        self
    }
}

/// The result of an action.
#[non_exhaustive]
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

impl Transition {
    /// The episode goes on with this observation.
    pub fn new(observation: Observation) -> Self {
        Self {
            observation,
            is_error: false,
            outcome: None,
        }
    }

    /// Sets whether the world refused the action.
    #[must_use]
    pub fn with_is_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// The same with the end of the episode.
    #[must_use]
    pub fn with_outcome(mut self, outcome: impl Into<Option<Outcome>>) -> Self {
        self.outcome = outcome.into();
        self
    }
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
#[non_exhaustive]
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

impl Failure {
    /// A failure that another try would not end.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            temporary: false,
        }
    }

    /// Sets what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets whether it may be gone at another try.
    #[must_use]
    pub fn with_temporary(mut self, temporary: bool) -> Self {
        self.temporary = temporary;
        self
    }
}

/// A skill as it stands in a prompt.
#[non_exhaustive]
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

impl Skill {
    /// A skill as it stands in the prompt.
    pub fn new(id: impl Into<String>, version: u64, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            version,
            text: text.into(),
        }
    }
}

/// An attempt at a task.
#[non_exhaustive]
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

impl Attempt {
    /// A first turn at a task, without skills and with no step taken. Temperature 0 is greedy; the seed is 0. The host ends it
    /// after a time in milliseconds.
    pub fn new(
        id: impl Into<String>,
        task: Task,
        observation: Observation,
        time_limit_ms: u64,
    ) -> Self {
        Self {
            id: id.into(),
            task,
            seed: 0,
            temperature: 0.0,
            time_limit_ms,
            steps: Vec::new(),
            observation,
            skills: Vec::new(),
        }
    }

    /// The same with this seed of the agent's randomness.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same with a sampling temperature, at least 0.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// The same with the steps that the host has taken already, in order.
    #[must_use]
    pub fn with_steps(mut self, steps: Vec<Step>) -> Self {
        self.steps = steps;
        self
    }

    /// The same with skills for the first turn, in the order in which they are written.
    #[must_use]
    pub fn with_skills(mut self, skills: Vec<Skill>) -> Self {
        self.skills = skills;
        self
    }
}

/// A step that was taken.
#[non_exhaustive]
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

impl Step {
    /// An action that was not refused, and the text of its result.
    pub fn new(action: Action, text: impl Into<String>) -> Self {
        Self {
            action,
            text: text.into(),
            is_error: false,
            kind: ObservationKind::Result,
        }
    }

    /// Sets whether the world refused it.
    #[must_use]
    pub fn with_is_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// The same with this kind of result.
    #[must_use]
    pub fn with_kind(mut self, kind: ObservationKind) -> Self {
        self.kind = kind;
        self
    }
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
#[non_exhaustive]
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

impl Usage {
    /// Tokens of prompts and of answers.
    pub const fn new(prompt_tokens: u64, output_tokens: u64) -> Self {
        Self {
            prompt_tokens,
            output_tokens,
        }
    }
}
