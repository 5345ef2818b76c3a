//! Finding out a contract from refusals that tell only the kind of what is missing.
//!
//! Where a call is missing, the agent tries the tools that take nothing, one after the other; where a value is wrong, the
//! values that the schemas allow for parameters that the task does not set; where a result is missing, the tools that take
//! nothing until one returns a value.

use journeyman::domain::ToolDefinition;
use serde_json::Value;

use super::manner::Manner;
use super::tools::definitions;
use crate::lexicon::{ParameterKind, kind_of};
use crate::policy::Exchange;
use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::seed::Draws;
use crate::simulate::{Outcome, Simulation};
use crate::tool::{Demand, Setting, ToolName};
use crate::world::{World, WorldSpec};

/// Greatest number of calls of an attempt.
pub const CALLS: usize = 14;

/// Whether an agent can find out this world's contract from opaque refusals: fixed values are words, which schemas
/// enumerate.
#[must_use]
pub fn can_be_found_out(world: &World) -> bool {
    world.target().is_some_and(|target| {
        target.contract.iter().all(|demand| match demand {
            Demand::Exact(setting) => kind_of(&setting.parameter) == ParameterKind::Word,
            _ => true,
        })
    })
}

/// An agent that knows only the task and the tools' definitions.
#[derive(Debug, Clone)]
pub struct Explorer {
    target: ToolName,
    known: Vec<Setting>,
    /// Tools that take nothing and were not tried yet.
    helpers: Vec<ToolName>,
    /// Values of parameters that the task does not set and that were not tried yet.
    values: Vec<Setting>,
    /// Whether the next call is another helper and not the tool itself.
    helping: bool,
}

impl Explorer {
    /// An agent at the beginning of a task.
    #[must_use]
    pub fn new(world: &World, tools: &[ToolDefinition]) -> Self {
        let target = world.goal.target.clone();
        let helpers = world
            .services
            .iter()
            .filter(|service| service.tool.parameters.is_empty() && service.tool.name != target);
        Self {
            values: values(world, tools),
            helpers: helpers.map(|service| service.tool.name.clone()).collect(),
            known: world.goal.given.clone(),
            helping: false,
            target,
        }
    }

    /// The next command line.
    pub fn next_call(&mut self) -> String {
        if self.helping && !self.helpers.is_empty() {
            return self.helpers.remove(0).to_string();
        }
        let settings = self
            .known
            .iter()
            .map(|setting| format!(" {} {}", setting.parameter, setting.value));
        format!("{}{}", self.target, settings.collect::<String>())
    }

    /// Learns from an answer.
    pub fn hear(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Accepted(Some(setting)) => {
                self.learn(setting.clone());
                self.helping = false;
            }
            Outcome::Accepted(None) | Outcome::Done => self.helping = false,
            Outcome::Refused(Refusal::NeedsCall(_) | Refusal::NeedsResult { .. }) => {
                self.helping = true;
            }
            Outcome::Refused(Refusal::NeedsValue(_)) if !self.values.is_empty() => {
                let next = self.values.remove(0);
                self.learn(next);
            }
            Outcome::Refused(_) => {}
        }
    }

    fn learn(&mut self, setting: Setting) {
        self.known
            .retain(|known| known.parameter != setting.parameter);
        self.known.push(setting);
    }
}

/// The values that the schema of the task's tool enumerates for parameters that the task does not set.
fn values(world: &World, tools: &[ToolDefinition]) -> Vec<Setting> {
    let name = crate::tool::wire_name(&world.goal.target);
    let definition = tools.iter().find(|tool| tool.name == name);
    let properties = definition
        .and_then(|tool| tool.input_schema.get("properties"))
        .and_then(Value::as_object);
    let given = world.given_names();
    let mut found = Vec::new();
    for (parameter, schema) in properties.into_iter().flatten() {
        let values = schema.get("enum").and_then(Value::as_array);
        if given.contains(parameter) {
            continue;
        }
        for value in values.into_iter().flatten().filter_map(Value::as_str) {
            found.push(Setting {
                parameter: parameter.clone(),
                value: value.to_owned(),
            });
        }
    }
    found
}

/// An attempt without a skill in a world whose refusals are opaque; `None` for draws that gave a world which cannot be
/// found out within [`CALLS`] calls.
pub(crate) fn scene(spec: &WorldSpec, draws: &mut Draws) -> Option<(Scene, Manner)> {
    let spec = WorldSpec {
        most_tools: spec.most_tools.min(5),
        ..spec.clone()
    };
    let world = World::make(&spec, draws);
    if !can_be_found_out(&world) {
        return None;
    }
    let manner = Manner::opaque(draws);
    let exchanges = explore(&world, &manner, draws.below(usize::MAX) as u64);
    let done = exchanges
        .last()
        .is_some_and(|exchange| exchange.reply.outcome == Outcome::Done);
    done.then(|| {
        let learned = vec![true; exchanges.len()];
        let scene = Scene {
            world,
            advice: Vec::new(),
            used: None,
            exchanges,
            learned,
        };
        (scene, manner)
    })
}

/// What an explorer does in a world, until it is done or has made [`CALLS`] calls.
#[must_use]
pub fn explore(world: &World, manner: &Manner, seed: u64) -> Vec<Exchange> {
    let mut explorer = Explorer::new(world, &definitions(world, manner));
    let mut simulation = Simulation::start(world.clone(), seed);
    let mut exchanges = Vec::new();
    while !simulation.is_done() && exchanges.len() < CALLS {
        let call = explorer.next_call();
        let reply = simulation.call(&call);
        explorer.hear(&reply.outcome);
        exchanges.push(Exchange { call, reply });
    }
    exchanges
}
