//! The words before a call: the skill that the agent follows, and the call that comes with its reason. Naming the tool
//! and the steps to come before the first call was the largest single effect on a small model.

use journeyman::domain::Skill;

use super::recipe::{Origin, Recipe};
use crate::policy::Exchange;
use crate::refusal::Refusal;
use crate::simulate::{Outcome, parse};
use crate::tool::{DEFAULT_SLOT, Setting, ToolName, wire_name};
use crate::world::World;

/// The line that says which skill an answer follows.
pub(crate) fn cited(skill: Option<&Skill>) -> String {
    match skill {
        Some(skill) => format!("Skill: {}", shown_name(skill)),
        None => "Skill: none".to_owned(),
    }
}

/// The name under which a prompt shows a skill.
pub(crate) fn shown_name(skill: &Skill) -> &str {
    skill
        .original_name
        .as_deref()
        .unwrap_or(skill.name.as_str())
}

/// Writes the words of one attempt, call by call.
#[derive(Debug)]
pub(crate) struct Thinker {
    plan: Option<String>,
    before: Option<Outcome>,
}

impl Thinker {
    /// For an attempt by this recipe; without one the agent tries the tool of the task with what the task gives.
    pub(crate) fn new(world: &World, recipe: Option<&Recipe>) -> Self {
        Self {
            plan: recipe.map(|recipe| plan(recipe, &world.goal.given)),
            before: None,
        }
    }

    /// The words before a call.
    pub(crate) fn next(&mut self, exchange: &Exchange, opaque: bool) -> String {
        let call = spoken(&exchange.call);
        let text = match (&self.before, self.plan.take()) {
            (None, Some(plan)) => format!("Plan: {plan}."),
            (None, None) => format!("Plan: {call}."),
            (Some(outcome), _) => format!("{} {call}.", reason(outcome, opaque)),
        };
        self.before = Some(exchange.reply.outcome.clone());
        text
    }
}

/// The calls of a recipe at a task: `unseal_bell, then unseal_coffee with power 65, tone off`.
pub(crate) fn plan(recipe: &Recipe, given: &[Setting]) -> String {
    let known = recipe.settings(given);
    let known = |name: &str| known.iter().find(|setting| setting.parameter == name);
    let arguments = recipe
        .arguments
        .iter()
        .filter_map(|(parameter, origin)| match origin {
            Origin::Result(source) => Some(format!("{parameter} of {}", wire_name(source))),
            _ => known(parameter).map(|setting| format!("{parameter} {}", setting.value)),
        });
    let arguments: Vec<String> = arguments.collect();
    let mut last = wire_name(&recipe.tool);
    if !arguments.is_empty() {
        last.push_str(&format!(" with {}", arguments.join(", ")));
    }
    let before: Vec<String> = recipe.before.iter().map(wire_name).collect();
    match before.is_empty() {
        true => last,
        false => format!("{}, then {last}", before.join(", ")),
    }
}

/// A command line in words; arguments in alphabetical order, without defaults.
fn spoken(line: &str) -> String {
    match parse(line) {
        Ok((name, settings)) => in_words(&name, &told(settings)),
        Err(_) => line.trim().replace(' ', "_"),
    }
}

fn told(mut settings: Vec<Setting>) -> Vec<Setting> {
    settings.retain(|setting| setting.value != DEFAULT_SLOT);
    settings.sort_by(|one, other| one.parameter.cmp(&other.parameter));
    settings
}

/// What the answer before this call says, and how the agent goes on.
fn reason(outcome: &Outcome, opaque: bool) -> String {
    let call = |name: &ToolName| wire_name(name);
    match outcome {
        Outcome::Accepted(None) => "Next:".to_owned(),
        Outcome::Accepted(Some(setting)) => {
            format!("The {} is {}. Next:", setting.parameter, setting.value)
        }
        Outcome::Done => "Done. Next:".to_owned(),
        Outcome::Refused(refusal) if opaque => match refusal {
            Refusal::NeedsCall(_) => "A call is missing. Try:".to_owned(),
            Refusal::NeedsValue(_) => "A value is wrong. Try:".to_owned(),
            Refusal::NeedsResult { .. } => "A result is missing. Try:".to_owned(),
            _ => "That was wrong. Try:".to_owned(),
        },
        Outcome::Refused(Refusal::NeedsCall(helper)) => {
            format!("It needs {}. Next:", call(helper))
        }
        Outcome::Refused(Refusal::NeedsValue(setting)) => {
            format!("It needs {} {}. Next:", setting.parameter, setting.value)
        }
        Outcome::Refused(Refusal::NeedsResult { parameter, source }) => {
            format!("It needs {parameter} of {}. Next:", call(source))
        }
        Outcome::Refused(_) => "That was wrong. Next:".to_owned(),
    }
}

/// A call in words: `unseal_coffee with power 65, tone off`.
pub(crate) fn in_words(tool: &ToolName, settings: &[Setting]) -> String {
    let settings = settings
        .iter()
        .map(|setting| format!("{} {}", setting.parameter, setting.value));
    let settings: Vec<String> = settings.collect();
    match settings.is_empty() {
        true => wire_name(tool),
        false => format!("{} with {}", wire_name(tool), settings.join(", ")),
    }
}
