//! What a tool demands and what a task gives, apart from any wording.

use std::collections::HashMap;

use journeyman::domain::ToolCall;
use serde_json::{Map, Value};

use crate::lexicon::{ParameterKind, kind_of};
use crate::scene::Advice;
use crate::simulate::parse;
use crate::tool::{
    DEFAULT_SLOT, Demand, RESULT_SLOT, Service, Setting, SkillText, TASK_SLOT, ToolName, wire_name,
};
use crate::world::World;

/// How one tool is called: the calls before it, and where each of its arguments comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The tool.
    pub tool: ToolName,
    /// The calls that come first, in order; the sources of carried values are among them.
    pub before: Vec<ToolName>,
    /// The arguments, by parameter in alphabetical order, as calls have them.
    pub arguments: Vec<(String, Origin)>,
}

/// Where the value of an argument comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The task gives it.
    Task,
    /// It is always this.
    Fixed(String),
    /// The result of this call gives it.
    Result(ToolName),
}

impl Recipe {
    /// The recipe that fulfills a service's contract, for tasks that give these parameters.
    #[must_use]
    pub fn of(service: &Service, given: &[String]) -> Self {
        let has = |name: &&String| service.tool.parameters.contains(*name);
        let mut arguments: Vec<(String, Origin)> = given
            .iter()
            .filter(has)
            .map(|name| (name.clone(), Origin::Task))
            .collect();
        for demand in &service.contract {
            match demand {
                Demand::Before(_) => {}
                Demand::Exact(Setting { parameter, value }) => {
                    arguments.push((parameter.clone(), Origin::Fixed(value.clone())));
                }
                Demand::Carried { parameter, source } => {
                    arguments.push((parameter.clone(), Origin::Result(source.clone())));
                }
            }
        }
        arguments.sort_by(|one, other| one.0.cmp(&other.0));
        let helpers = service.contract.iter().filter_map(Demand::helper);
        Self {
            tool: service.tool.name.clone(),
            before: helpers.cloned().collect(),
            arguments,
        }
    }

    /// The recipe of a skill; one that does not say which values the task gives has those of `given` that its tool takes.
    pub(crate) fn of_advice(advice: &Advice, given: &[String]) -> Self {
        Self::of(&advice.service, advice.given.as_deref().unwrap_or(given))
    }

    /// The recipe of the task's tool; `None` for a world without it.
    #[must_use]
    pub fn of_target(world: &World) -> Option<Self> {
        Some(Self::of(world.target()?, &world.given_names()))
    }

    /// The recipe of a step list. It does not say which of several calls gives a value: the last one is taken.
    #[must_use]
    pub fn of_steps(text: &SkillText) -> Option<Self> {
        let (last, before) = text.steps.split_last()?;
        let before: Vec<ToolName> = before
            .iter()
            .filter_map(|step| ToolName::parse(step))
            .collect();
        let (tool, settings) = parse(last).ok()?;
        let mut arguments: Vec<(String, Origin)> = Vec::new();
        for Setting { parameter, value } in settings {
            let origin = match value.as_str() {
                DEFAULT_SLOT => continue,
                TASK_SLOT => Origin::Task,
                RESULT_SLOT => Origin::Result(before.last()?.clone()),
                _ => Origin::Fixed(value),
            };
            arguments.push((parameter, origin));
        }
        arguments.sort_by(|one, other| one.0.cmp(&other.0));
        Some(Self {
            tool,
            before,
            arguments,
        })
    }

    /// The same as a step list; parameters in alphabetical order.
    #[must_use]
    pub fn step_list(&self) -> SkillText {
        let mut steps: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        let mut last = self.tool.to_string();
        for (parameter, origin) in &self.arguments {
            let value = match origin {
                Origin::Task => TASK_SLOT,
                Origin::Fixed(value) => value,
                Origin::Result(_) => RESULT_SLOT,
            };
            last.push_str(&format!(" {parameter} {value}"));
        }
        steps.push(last);
        SkillText {
            title: self.tool.clone(),
            steps,
        }
    }

    /// Whether both do the same at every task. The calls before the last may be in any order: each is needed, and none
    /// depends on another.
    #[must_use]
    pub fn does_the_same(&self, other: &Self) -> bool {
        let sorted = |recipe: &Self| {
            let mut recipe = recipe.clone();
            recipe.before.sort();
            recipe
        };
        sorted(self) == sorted(other)
    }

    /// The values that are known before any call, in the order of the arguments.
    pub(crate) fn settings(&self, given: &[Setting]) -> Vec<Setting> {
        let known: HashMap<&str, &str> = given
            .iter()
            .map(|setting| (setting.parameter.as_str(), setting.value.as_str()))
            .collect();
        let settings = self.arguments.iter().filter_map(|(parameter, origin)| {
            let value = match origin {
                Origin::Task => (*known.get(parameter.as_str())?).to_owned(),
                Origin::Fixed(value) => value.clone(),
                Origin::Result(_) => return None,
            };
            Some(Setting {
                parameter: parameter.clone(),
                value,
            })
        });
        settings.collect()
    }
}

/// A command line as a tool call: an argument with the default is left out, and numbers are numbers.
#[must_use]
pub fn to_call(line: &str) -> ToolCall {
    let Ok((name, settings)) = parse(line) else {
        return ToolCall::new(line.trim().replace(' ', "_"), Value::Null);
    };
    let settings: Vec<Setting> = settings
        .into_iter()
        .filter(|setting| setting.value != DEFAULT_SLOT)
        .collect();
    ToolCall::new(wire_name(&name), arguments(&settings).into())
}

/// Settings as the arguments of a call.
pub(crate) fn arguments(settings: &[Setting]) -> Map<String, Value> {
    let one = |setting: &Setting| {
        let Setting { parameter, value } = setting;
        (parameter.clone(), json_value(parameter, value))
    };
    settings.iter().map(one).collect()
}

/// A written value as JSON: a number where the parameter takes numbers.
pub(crate) fn json_value(parameter: &str, value: &str) -> Value {
    match (kind_of(parameter), value.parse::<u8>()) {
        (ParameterKind::Number, Ok(number)) => Value::from(number),
        _ => Value::from(value),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_line_is_a_call() {
        let call = to_call("unseal coffee tone off power 65 code #");
        assert_eq!(
            call,
            ToolCall::new("unseal_coffee", json!({"power": 65, "tone": "off"}))
        );
    }
}
