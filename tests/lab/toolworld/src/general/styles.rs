//! The styles in which people and models write about a recipe.

use super::composed::Composed;
use super::manner::spaced;
use super::recipe::{Origin, Recipe, json_value};
use crate::seed::Draws;
use crate::split::Split;
use crate::tool::{ToolName, wire_name};

/// How a skill is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// Numbered calls: what the bundled model itself writes.
    Numbered,
    /// Numbered calls without marks.
    Plain,
    /// A list of calls.
    Bullets,
    /// Sentences: "Before A, call B."
    Prose,
    /// An example of each call in JSON.
    Json,
    /// Sentences about what the tool needs.
    Needs,
    /// An instruction in the task's own words.
    Words,
    /// ARISE's document.
    Arise,
    /// Calls whose signs, words and order are put together by chance, so that a reader cannot rely on one form.
    Composed,
    /// Calls with arrows between them. No training text has it: only the evaluation does.
    Arrows,
}

impl Style {
    /// The styles of skills, with their weights.
    const USUAL: [(Self, u32); 8] = [
        (Self::Numbered, 30),
        (Self::Plain, 12),
        (Self::Bullets, 12),
        (Self::Prose, 14),
        (Self::Json, 10),
        (Self::Needs, 8),
        (Self::Words, 8),
        (Self::Arise, 8),
    ];

    /// The share of skills of training text whose form is put together by chance.
    const COMPOSED: f64 = 0.33;

    /// Draws the style of a skill about this tool. [`Composed`](Self::Composed) is for training text alone: a held-out tool, which only
    /// evaluations have, gets one of the usual styles.
    #[must_use]
    pub fn draw(tool: &ToolName, draws: &mut Draws) -> Self {
        let trains = Split::of(&tool.verb, &tool.noun) == Split::Training;
        if trains && draws.chance(Self::COMPOSED) {
            return Self::Composed;
        }
        let at = draws.weighted(&Self::USUAL.map(|(_, weight)| weight));
        Self::USUAL
            .get(at)
            .map_or(Self::Numbered, |(style, _)| *style)
    }
}

/// The body of a skill in a style.
#[must_use]
pub fn body(recipe: &Recipe, style: Style, draws: &mut Draws) -> String {
    let ToolName { verb, noun } = &recipe.tool;
    match style {
        Style::Numbered => numbered(recipe, "`"),
        Style::Plain => {
            let heading = match draws.chance(0.5) {
                true => format!("# How to {verb} the {noun}\n\n"),
                false => String::new(),
            };
            heading + &numbered(recipe, "")
        }
        Style::Bullets => {
            let first = ["First", "Begin with", "Call"];
            let mut lines: Vec<String> = recipe
                .before
                .iter()
                .map(|helper| format!("- {} {}", draws.word(&first), wire_name(helper)))
                .collect();
            lines.push(format!("- Then {}", colon_call(recipe)));
            lines.join("\n")
        }
        Style::Prose => prose(recipe, draws),
        Style::Json => json_example(recipe),
        Style::Needs | Style::Arise => {
            let tool = wire_name(&recipe.tool);
            let needs = needs(recipe);
            match needs.is_empty() {
                true => format!("{tool} needs nothing beyond the task."),
                false => {
                    let lines = needs.iter().map(|need| format!("{tool} needs {need}."));
                    lines.collect::<Vec<_>>().join("\n")
                }
            }
        }
        Style::Words => in_words(recipe),
        Style::Composed => Composed::draw(draws).body(recipe, draws),
        Style::Arrows => {
            let calls = recipe.before.iter().map(wire_name);
            let calls: Vec<String> = calls.chain([colon_call(recipe)]).collect();
            calls.join(" -> ")
        }
    }
}

pub(super) fn numbered(recipe: &Recipe, mark: &str) -> String {
    let mut lines: Vec<String> = recipe
        .before
        .iter()
        .map(|helper| format!("Call {mark}{}{mark}.", wire_name(helper)))
        .collect();
    lines.push(format!("Call {}.", last_call(recipe, mark)));
    let lines = (1..)
        .zip(lines)
        .map(|(number, line)| format!("{number}. {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The call of the tool itself: `unseal_coffee with power from the task, tone off`.
fn last_call(recipe: &Recipe, mark: &str) -> String {
    let tool = wire_name(&recipe.tool);
    let arguments = recipe.arguments.iter().map(|(parameter, origin)| {
        let origin = match origin {
            Origin::Task => "from the task".to_owned(),
            Origin::Fixed(value) => format!("{mark}{value}{mark}"),
            Origin::Result(source) => format!("from {mark}{}{mark}", wire_name(source)),
        };
        format!("{mark}{parameter}{mark} {origin}")
    });
    let arguments: Vec<String> = arguments.collect();
    match arguments.is_empty() {
        true => format!("{mark}{tool}{mark}"),
        false => format!("{mark}{tool}{mark} with {}", arguments.join(", ")),
    }
}

/// `unseal_coffee: power as in the task, tone = off`.
fn colon_call(recipe: &Recipe) -> String {
    let tool = wire_name(&recipe.tool);
    let arguments = recipe
        .arguments
        .iter()
        .map(|(parameter, origin)| match origin {
            Origin::Task => format!("{parameter} as in the task"),
            Origin::Fixed(value) => format!("{parameter} = {value}"),
            Origin::Result(source) => format!("{parameter} = the one of {}", wire_name(source)),
        });
    let arguments: Vec<String> = arguments.collect();
    match arguments.is_empty() {
        true => tool,
        false => format!("{tool}: {}", arguments.join(", ")),
    }
}

fn prose(recipe: &Recipe, draws: &mut Draws) -> String {
    let tool = wire_name(&recipe.tool);
    let mut sentences: Vec<String> = Vec::new();
    for helper in &recipe.before {
        let helper = wire_name(helper);
        sentences.push(match draws.below(3) {
            0 => format!("Before {tool}, call {helper}."),
            1 => format!("Call {helper} before you call {tool}."),
            _ => format!("{tool} works only after {helper}."),
        });
    }
    for (parameter, origin) in &recipe.arguments {
        sentences.push(match origin {
            Origin::Fixed(value) if draws.chance(0.5) => format!("Set {parameter} to {value}."),
            Origin::Fixed(value) => format!("The {parameter} is always {value}."),
            Origin::Result(source) => {
                format!("Take {parameter} from the result of {}.", wire_name(source))
            }
            Origin::Task if draws.chance(0.5) => format!("The task gives {parameter}."),
            Origin::Task => continue,
        });
    }
    if sentences.is_empty() {
        sentences.push(format!("Call {tool} at once."));
    }
    draws.shuffle(&mut sentences);
    sentences.join(" ")
}

fn json_example(recipe: &Recipe) -> String {
    let call = |name: &ToolName, arguments: serde_json::Value| {
        format!("{} {}", wire_name(name), spaced(&arguments))
    };
    let mut lines: Vec<String> = recipe
        .before
        .iter()
        .map(|helper| call(helper, serde_json::json!({})))
        .collect();
    let arguments = recipe.arguments.iter().map(|(parameter, origin)| {
        let value = match origin {
            Origin::Task => "<task>".into(),
            Origin::Fixed(value) => json_value(parameter, value),
            Origin::Result(source) => format!("<{}>", wire_name(source)).into(),
        };
        (parameter.clone(), value)
    });
    lines.push(call(
        &recipe.tool,
        arguments.collect::<serde_json::Map<_, _>>().into(),
    ));
    lines.join("\n")
}

fn in_words(recipe: &Recipe) -> String {
    let say = |name: &ToolName| format!("{} the {}", name.verb, name.noun);
    let steps: Vec<String> = recipe.before.iter().map(say).collect();
    let values = recipe
        .arguments
        .iter()
        .map(|(parameter, origin)| match origin {
            Origin::Task => format!("the {parameter} of the task"),
            Origin::Fixed(value) => format!("{parameter} {value}"),
            Origin::Result(source) => {
                format!("the {parameter} that you got when you {}", say(source))
            }
        });
    let values: Vec<String> = values.collect();
    let with = match values.is_empty() {
        true => String::new(),
        false => format!(" with {}", values.join(" and ")),
    };
    let target = say(&recipe.tool);
    match steps.is_empty() {
        true => format!("To {target}, just {target}{with}."),
        false => format!(
            "To {target}, first {}, then {target}{with}.",
            steps.join(" and ")
        ),
    }
}

/// What matters most about a recipe, in a sentence.
pub(crate) fn insight(recipe: &Recipe) -> String {
    let tool = wire_name(&recipe.tool);
    let needs: Vec<String> = needs(recipe);
    match needs.is_empty() {
        true => format!("{tool} takes what the task gives and needs nothing first"),
        false => format!("{tool} needs {}", needs.join(", ")),
    }
}

/// The calls of a recipe as the steps of a method.
pub(crate) fn method(recipe: &Recipe) -> Vec<String> {
    let mut steps: Vec<String> = recipe
        .before
        .iter()
        .map(|helper| format!("Call {}", wire_name(helper)))
        .collect();
    steps.push(format!("Call {}", last_call(recipe, "")));
    if steps.len() < 2 {
        steps.insert(0, "Take the values from the task".to_owned());
    }
    steps
}

/// What a tool needs beside the task's values: calls, values, sources.
fn needs(recipe: &Recipe) -> Vec<String> {
    let sources: Vec<&ToolName> = recipe
        .arguments
        .iter()
        .filter_map(|(_, origin)| match origin {
            Origin::Result(source) => Some(source),
            _ => None,
        })
        .collect();
    let calls = recipe
        .before
        .iter()
        .filter(|helper| !sources.contains(helper));
    let calls = calls.map(|helper| format!("{} first", wire_name(helper)));
    let values = recipe
        .arguments
        .iter()
        .filter_map(|(parameter, origin)| match origin {
            Origin::Task => None,
            Origin::Fixed(value) => Some(format!("{parameter} {value}")),
            Origin::Result(source) => Some(format!("{parameter} from {}", wire_name(source))),
        });
    calls.chain(values).collect()
}
