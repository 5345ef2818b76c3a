//! The messages of the protocol, version 1. `docs/reference/process-protocol.md` is the authority; [`schema`] is the JSON Schema beside it.

mod values;

use std::fmt;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use values::{
    Action, Attempt, Call, Capabilities, End, Failure, FailureKind, Observation, ObservationKind,
    Outcome, Skill, Step, Task, Tool, Transition, Usage,
};

/// The version of the protocol that this crate speaks.
pub const VERSION: u32 = 1;

/// What a child process is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A world in which tasks are attempted.
    Environment,
    /// An agent.
    Executor,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "environment",
            Self::Executor => "executor",
        })
    }
}

/// A message from the host to the child.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum HostMessage {
    /// The first message. Answered by `hello`.
    Hello {
        /// The request's id.
        id: u64,
        /// The version of the protocol that the host speaks.
        protocol: u32,
        /// What the child must be.
        part: Part,
    },
    /// Begins an episode. Answered by `observation`.
    Reset {
        /// The request's id.
        id: u64,
        /// The new episode's id, unique within the process.
        episode: u64,
        /// The task.
        task: Task,
        /// The seed of the episode's randomness.
        seed: u64,
    },
    /// Takes an action in an episode. Answered by `transition`.
    Step {
        /// The request's id.
        id: u64,
        /// The episode.
        episode: u64,
        /// The action.
        action: Action,
    },
    /// Ends an episode. Answered by `closed`.
    Close {
        /// The request's id.
        id: u64,
        /// The episode.
        episode: u64,
    },
    /// Attempts a task. Answered by `executed`, after any number of `act`, `guide` and `used`.
    Execute {
        /// The request's id, which the child names as `execution`.
        id: u64,
        /// The attempt.
        attempt: Attempt,
    },
    /// The answer to an `act`.
    Transition {
        /// The id of the `act`.
        id: u64,
        /// The result of the action.
        transition: Transition,
    },
    /// The answer to a `guide`.
    Guidance {
        /// The id of the `guide`.
        id: u64,
        /// The skills for this turn, in the order in which they are written.
        skills: Vec<Skill>,
    },
    /// The answer to an `act` or a `guide` that failed.
    Error {
        /// The id of the request.
        id: u64,
        /// The failure.
        error: Failure,
    },
    /// The host no longer waits for the answer of a request. It may be answered nevertheless.
    Cancel {
        /// The id of the abandoned request.
        id: u64,
    },
}

/// A message from the child to the host.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChildMessage {
    /// The answer to `hello`.
    Hello {
        /// The id of the request.
        id: u64,
        /// The version of the protocol that the child speaks.
        protocol: u32,
        /// What the child is.
        part: Part,
        /// Its name, such as `ticket desk`: the source of its observations.
        name: String,
        /// Its guarantees.
        #[serde(default)]
        capabilities: Capabilities,
    },
    /// The answer to `reset`.
    Observation {
        /// The id of the request.
        id: u64,
        /// The first observation.
        observation: Observation,
    },
    /// The answer to `step`.
    Transition {
        /// The id of the request.
        id: u64,
        /// The result of the action.
        transition: Transition,
    },
    /// The answer to `close`.
    Closed {
        /// The id of the request.
        id: u64,
    },
    /// The answer to any request that failed.
    Error {
        /// The id of the request.
        id: u64,
        /// The failure.
        error: Failure,
    },
    /// An executor takes an action in its episode. Answered by `transition` or `error`.
    Act {
        /// The id of this request, unique among those of the process.
        id: u64,
        /// The id of the `execute`.
        execution: u64,
        /// The action.
        action: Action,
        /// The agent's own words for this step; empty where it has none.
        #[serde(default)]
        transcript: String,
    },
    /// An executor asks for the skills of its next turn. Answered by `guidance` or `error`.
    Guide {
        /// The id of this request, unique among those of the process.
        id: u64,
        /// The id of the `execute`.
        execution: u64,
    },
    /// An executor reports whether the agent followed a skill. There is no answer. A skill of which nothing is reported has an
    /// unknown use; where both are reported, it was followed.
    Used {
        /// The id of the `execute`.
        execution: u64,
        /// The skill's id, as the host gave it.
        skill: String,
        /// Its version, as the host gave it.
        version: u64,
        /// Whether the agent followed it.
        #[serde(default = "yes")]
        followed: bool,
    },
    /// The answer to `execute`.
    Executed {
        /// The id of the request.
        id: u64,
        /// Why the attempt ended.
        end: End,
        /// The tokens spent.
        #[serde(default)]
        usage: Usage,
    },
}

/// The default of `followed`.
fn yes() -> bool {
    true
}

/// The JSON Schema (2020-12) of a line: of a [`HostMessage`] or a [`ChildMessage`].
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let host = generator.subschema_for::<HostMessage>();
    let child = generator.subschema_for::<ChildMessage>();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Journeyman process protocol, version {VERSION}"),
        "anyOf": [host, child],
        "$defs": generator.take_definitions(true),
    })
}
