//! Constructors for the values that hosts make: observations, actions, steps, outcomes, trajectories.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    Action, Compaction, EndReason, Injection, Observation, ObservationKind, Outcome, Source, Step,
    StepResult, ToolCall, ToolDefinition, Trajectory, Transition, Trust, Usage,
};
use crate::id::{AttemptId, Seed, TaskId};

impl Source {
    /// A source that the host trusts: skills learned from it may be used at once.
    pub fn trusted(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            trust: Trust::Trusted,
        }
    }

    /// A source that anybody may write to: skills learned from it are quarantined.
    pub fn untrusted(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            trust: Trust::Untrusted,
        }
    }
}

impl Default for Source {
    /// An untrusted source, named `host`.
    fn default() -> Self {
        Self::untrusted("host")
    }
}

impl ToolDefinition {
    /// A tool and the JSON Schema of its arguments.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: serde_json::Value,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
        }
    }
}

impl Observation {
    /// A text of this source, without tools.
    pub fn new(text: impl Into<String>, source: Source) -> Self {
        Self {
            text: text.into(),
            tools: Vec::new(),
            source,
            kind: ObservationKind::Result,
        }
    }

    /// The same as the user's words.
    #[must_use]
    pub fn by_user(mut self) -> Self {
        self.kind = ObservationKind::User;
        self
    }

    /// The same as an event.
    #[must_use]
    pub fn of_event(mut self) -> Self {
        self.kind = ObservationKind::Event;
        self
    }

    /// The same with the tools in force.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<ToolDefinition>) -> Self {
        self.tools = tools;
        self
    }
}

impl Default for Observation {
    /// An empty text of an untrusted source.
    fn default() -> Self {
        Self::new("", Source::default())
    }
}

impl ToolCall {
    /// A call with the fields of a JSON object as its arguments; any other value becomes none.
    pub fn new(tool: impl Into<String>, arguments: serde_json::Value) -> Self {
        let arguments = match arguments {
            serde_json::Value::Object(fields) => fields,
            _ => serde_json::Map::new(),
        };
        Self {
            tool: tool.into(),
            arguments,
        }
    }
}

impl Action {
    /// A single call, as [`ToolCall::new`].
    pub fn call(tool: impl Into<String>, arguments: serde_json::Value) -> Self {
        Self::Call(vec![ToolCall::new(tool, arguments)])
    }

    /// Whether it calls a tool of this name.
    ///
    /// ```
    /// use journeyman::domain::Action;
    /// use serde_json::json;
    ///
    /// assert!(Action::call("close", json!({})).has_call("close"));
    /// assert!(!Action::EndTurn.has_call("close"));
    /// ```
    pub fn has_call(&self, tool: &str) -> bool {
        matches!(self, Self::Call(calls) if calls.iter().any(|call| call.tool == tool))
    }

    /// The action as JSON, in the form in which `agent::ChatFormat` asks a model for it: an object with
    /// `tool` and `arguments` for each call, on lines of their own; `message`; or `done`.
    ///
    /// ```
    /// use journeyman::domain::Action;
    /// use serde_json::json;
    ///
    /// let call = Action::call("close", json!({"ticket": 7})).to_json();
    /// let call: serde_json::Value = serde_json::from_str(&call)?;
    /// assert_eq!(call, json!({"tool": "close", "arguments": {"ticket": 7}}));
    /// assert_eq!(Action::EndTurn.to_json(), r#"{"done":true}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        match self {
            Self::Call(calls) => {
                let calls = calls.iter().map(|call| {
                    let mut call = json!({ "tool": call.tool, "arguments": call.arguments });
                    // The same text whether or not a part of the program turns on `preserve_order` of serde_json.
                    call.sort_all_objects();
                    call.to_string()
                });
                calls.collect::<Vec<_>>().join("\n")
            }
            Self::Message(text) => json!({ "message": text }).to_string(),
            Self::EndTurn => json!({ "done": true }).to_string(),
        }
    }
}

impl Outcome {
    /// The task was done: score 1.
    pub fn success() -> Self {
        Self::scored(true, 1.0)
    }

    /// The task was not done: score 0.
    pub fn failure() -> Self {
        Self::scored(false, 0.0)
    }

    /// Done or not, with a score in [0, 1].
    pub fn scored(success: bool, score: f64) -> Self {
        Self {
            success,
            score,
            parts: BTreeMap::new(),
        }
    }

    /// The same with a named part, finite.
    #[must_use]
    pub fn with_part(mut self, name: impl Into<String>, value: f64) -> Self {
        self.parts.insert(name.into(), value);
        self
    }
}

impl From<bool> for Outcome {
    /// Done or not, with score 1 or 0.
    fn from(success: bool) -> Self {
        if success {
            Self::success()
        } else {
            Self::failure()
        }
    }
}

impl Transition {
    /// The episode goes on with this observation.
    pub fn next(observation: Observation) -> Self {
        Self {
            observation,
            is_error: false,
            outcome: None,
        }
    }

    /// The world refused the action; the observation says why.
    pub fn refused(observation: Observation) -> Self {
        Self {
            is_error: true,
            ..Self::next(observation)
        }
    }

    /// The episode is over.
    pub fn end(observation: Observation, outcome: Outcome) -> Self {
        Self {
            outcome: Some(outcome),
            ..Self::next(observation)
        }
    }
}

impl StepResult {
    /// A text of this source.
    pub fn new(text: impl Into<String>, source: Source) -> Self {
        Self {
            text: text.into(),
            is_error: false,
            source,
            kind: ObservationKind::Result,
        }
    }

    /// The same as the user's words: the user answered the agent's message.
    #[must_use]
    pub fn by_user(mut self) -> Self {
        self.kind = ObservationKind::User;
        self
    }

    /// The world refused the action; the text says why.
    pub fn refused(text: impl Into<String>, source: Source) -> Self {
        Self {
            is_error: true,
            ..Self::new(text, source)
        }
    }
}

impl From<&Transition> for StepResult {
    /// What a step's action led to.
    fn from(transition: &Transition) -> Self {
        let Observation {
            text,
            tools: _,
            source,
            kind,
        } = &transition.observation;
        Self {
            text: text.clone(),
            is_error: transition.is_error,
            source: source.clone(),
            kind: *kind,
        }
    }
}

impl Step {
    /// Whether a turn of the dialogue ends with it: the agent made no call, or the user speaks next.
    pub fn ends_turn(&self) -> bool {
        !matches!(self.action, Action::Call(_)) || self.result.kind == ObservationKind::User
    }

    /// What the agent wrote for this step: its transcript, or where it has none its action as JSON.
    pub fn words(&self) -> String {
        match self.transcript.trim().is_empty() {
            true => self.action.to_json(),
            false => self.transcript.clone(),
        }
    }

    /// A step of the agent: an action and its result. [`Trajectory::push`] numbers it.
    ///
    /// ```
    /// use journeyman::domain::{Action, Source, Step, StepResult};
    /// use serde_json::json;
    ///
    /// let desk = Source::trusted("ticket desk");
    /// let call = Action::call("close", json!({"ticket": "T-7"}));
    /// let step = Step::new(call, StepResult::refused("verify the customer first", desk));
    /// assert!(step.result.is_error);
    /// ```
    pub fn new(action: Action, result: StepResult) -> Self {
        Self {
            index: 0,
            turn: 0,
            actor: "agent".to_owned(),
            observation: Observation::new("", result.source.clone()),
            action,
            result,
            transcript: String::new(),
            generations: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The same with what the agent saw before it acted.
    #[must_use]
    pub fn seeing(mut self, observation: Observation) -> Self {
        self.observation = observation;
        self
    }

    /// The same with the agent's own words.
    #[must_use]
    pub fn saying(mut self, transcript: impl Into<String>) -> Self {
        self.transcript = transcript.into();
        self
    }
}

impl Trajectory {
    /// An attempt before its first step: no outcome, and the end [`EndReason::GaveUp`]. The executor fills it in.
    pub fn new(attempt: AttemptId, task: TaskId, seed: Seed) -> Self {
        Self {
            schema: Self::SCHEMA,
            attempt,
            task,
            seed,
            model: None,
            steps: Vec::new(),
            exposures: Vec::new(),
            injection: Injection::NONE,
            left_out: Vec::new(),
            undecided: None,
            unread: None,
            compaction: Compaction::NONE,
            outcome: None,
            end: EndReason::GaveUp,
            usage: Usage::default(),
        }
    }

    /// Appends a step and sets its index.
    pub fn push(&mut self, mut step: Step) {
        step.index = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        self.steps.push(step);
    }
}
