//! Toolworld as an [`Environment`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use journeyman::contract::{Environment, EnvironmentCapabilities, Episode};
use journeyman::domain::{
    Action, Observation, Outcome, Source, Task, ToolCall, ToolDefinition, Transition,
};
use journeyman::{Error, ErrorKind, Result, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::general::manner::Manner;
use crate::general::tools::definitions;
use crate::lexicon::{ParameterKind, VALUES, kind_of};
use crate::simulate::{self, Reply, Simulation};
use crate::tool::{Tool, wire_name};
use crate::world::World;

/// The source name of observations.
pub const SOURCE: &str = "toolworld";

/// The payload of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Version of the JSON format; [`Setup::SCHEMA`].
    pub schema: u32,
    /// The world, contracts included.
    pub world: World,
    /// How its tools are defined and how they answer; `None` for plain definitions and
    /// the world's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manner: Option<Manner>,
}

impl Setup {
    /// The present version of the JSON format.
    pub const SCHEMA: u32 = 1;

    /// The setup of a world.
    #[must_use]
    pub fn new(world: World) -> Self {
        Self {
            schema: Self::SCHEMA,
            world,
            manner: None,
        }
    }

    /// The same with its tools defined and its answers worded in this manner.
    #[must_use]
    pub fn with_manner(mut self, manner: Manner) -> Self {
        self.manner = Some(manner);
        self
    }

    /// Writes the setup as a task's payload.
    ///
    /// # Errors
    /// `Internal` when it cannot be written as JSON.
    pub fn to_json(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|error| {
            Error::new(
                ErrorKind::Internal,
                "Setup::to_json",
                "the world cannot be written as JSON",
            )
            .source_from(error)
        })
    }

    /// Reads a task's payload.
    ///
    /// # Errors
    /// `Invalid` for a payload that is not a world of this version, or a world without its target.
    pub fn of(task: &Task) -> Result<Self> {
        let refuse = |message: &str| {
            Error::invalid("Environment::reset", message)
                .with("task", &task.id)
                .hint("create tasks with journeyman_toolworld::stream::Universe")
        };
        let setup = Self::deserialize(&task.payload).map_err(|error| {
            refuse("the task's payload is not a world of toolworld").source_from(error)
        })?;
        if setup.schema != Self::SCHEMA {
            return Err(refuse(
                "the task's payload has the schema of another version of toolworld",
            ));
        }
        if setup.world.target().is_none() {
            return Err(refuse("the world lacks the tool that its goal names"));
        }
        Ok(setup)
    }
}

/// An environment of simulated services. Each task has its own world in its payload.
#[derive(Debug, Clone)]
pub struct Toolworld {
    step_budget: usize,
}

impl Toolworld {
    /// The step budget of [`Toolworld::default`]: enough to find out any contract with two mistakes.
    pub const STEPS: usize = 8;

    /// An environment whose episodes end after `step_budget` calls.
    ///
    /// # Errors
    /// `Invalid` for a budget of zero.
    pub fn new(step_budget: usize) -> Result<Self> {
        if step_budget == 0 {
            return Err(Error::invalid("Toolworld::new", "the step budget is zero")
                .hint("allow at least one step"));
        }
        Ok(Self { step_budget })
    }
}

impl Default for Toolworld {
    fn default() -> Self {
        Self {
            step_budget: Self::STEPS,
        }
    }
}

#[async_trait]
impl Environment for Toolworld {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::deterministic()
    }

    async fn reset(&self, task: &Task, seed: Seed) -> Result<Box<dyn Episode>> {
        let Setup { world, manner, .. } = Setup::of(task)?;
        let tools = match &manner {
            Some(manner) => definitions(&world, manner),
            None => (world.services.iter())
                .map(|service| define(&service.tool))
                .collect(),
        };
        let query = world.query.clone();
        let observation = Observation::new(query, Source::trusted(SOURCE)).with_tools(tools);
        let simulation = Simulation::start(world, seed.0);
        Ok(Box::new(ToolworldEpisode {
            simulation,
            manner,
            observation,
            step_budget: self.step_budget,
            over: false,
        }))
    }
}

/// One episode in a world.
#[derive(Debug)]
struct ToolworldEpisode {
    simulation: Simulation,
    manner: Option<Manner>,
    observation: Observation,
    step_budget: usize,
    over: bool,
}

#[async_trait]
impl Episode for ToolworldEpisode {
    fn observation(&self) -> &Observation {
        &self.observation
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        if self.over {
            return Err(Error::invalid("Episode::step", "the episode is over")
                .hint("reset the environment"));
        }
        let (text, is_error) = match action {
            Action::Call(calls) if !calls.is_empty() => self.call_all(calls),
            Action::EndTurn => {
                self.over = true;
                ("ok".to_owned(), false)
            }
            _ => self.call_line("", ""),
        };
        self.over |= self.simulation.is_done() || self.simulation.calls() >= self.step_budget;
        self.observation.text = text;
        let mut transition = Transition::next(self.observation.clone());
        transition.is_error = is_error;
        transition.outcome = self.over.then(|| self.outcome());
        Ok(transition)
    }

    async fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl ToolworldEpisode {
    /// Makes the calls in order until one is refused, the task is done or the budget is spent.
    fn call_all(&mut self, calls: &[ToolCall]) -> (String, bool) {
        let mut texts = Vec::new();
        for call in calls {
            let (text, is_error) = self.call_line(&call.tool, &command(call));
            texts.push(text);
            if is_error || self.simulation.is_done() || self.simulation.calls() >= self.step_budget
            {
                return (texts.join("\n"), is_error);
            }
        }
        (texts.join("\n"), false)
    }

    fn call_line(&mut self, tool: &str, line: &str) -> (String, bool) {
        let Reply { text, outcome } = self.simulation.call(line);
        let text = match &self.manner {
            Some(manner) => manner.answer(tool, &outcome),
            None => text,
        };
        (text, matches!(outcome, simulate::Outcome::Refused(_)))
    }

    fn outcome(&self) -> Outcome {
        let simulation = &self.simulation;
        let flag = |value: bool| f64::from(u8::from(value));
        let parts = BTreeMap::from([
            (
                "first_attempt".to_owned(),
                flag(simulation.is_first_attempt()),
            ),
            ("hidden".to_owned(), flag(simulation.world().is_hidden())),
            ("calls".to_owned(), simulation.calls() as f64),
            ("refusals".to_owned(), simulation.refusals() as f64),
        ]);
        // Efficiency: the number of calls of an agent that knows the contract, divided by the calls made.
        let score = flag(simulation.is_done()) * simulation.fewest_calls() as f64
            / simulation.calls().max(1) as f64;
        let mut outcome = Outcome::scored(simulation.is_done(), score);
        outcome.parts = parts;
        outcome
    }
}

/// The command line of a call. A malformed call becomes a line that is refused.
#[must_use]
pub fn command(call: &ToolCall) -> String {
    let mut line = call.tool.replacen('_', " ", 1);
    for (parameter, value) in &call.arguments {
        let value = match value {
            Value::String(text) if !text.is_empty() => text.clone(),
            other => other.to_string(),
        };
        // A value of several words must not read as further arguments.
        line.push_str(&format!(
            " {parameter} {}",
            value.split_whitespace().collect::<Vec<_>>().join("_")
        ));
    }
    line
}

/// The SDK's definition of a tool.
#[must_use]
pub fn define(tool: &Tool) -> ToolDefinition {
    let describe = |parameter: &String| {
        let schema = match kind_of(parameter) {
            ParameterKind::Number => json!({"type": "integer", "minimum": 1, "maximum": 99}),
            ParameterKind::Word => json!({"type": "string", "enum": VALUES}),
        };
        (parameter.clone(), schema)
    };
    let properties: Map<String, Value> = tool.parameters.iter().map(describe).collect();
    let description = format!(
        "{}; a parameter that is left out has its default",
        tool.usage()
    );
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": tool.parameters,
        "additionalProperties": false,
    });
    ToolDefinition::new(wire_name(&tool.name), description, schema)
}
