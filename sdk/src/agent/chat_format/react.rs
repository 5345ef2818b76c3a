//! Reads the lines of ReAct: `Thought:`, `Action:`, `Action Input:`, `Final Answer:`.

use serde_json::Value;

use super::{
    fields::Object,
    tool::{ends, object_of, only_text, requires},
};
use crate::{
    domain::{Action, ToolCall, ToolDefinition},
    text::{Candidate, tool_meant},
};

/// Text before the first line that begins with `Observation:`, and whether there is such a line.
pub(super) fn before_observation(text: &str) -> (&str, bool) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if label(line, "observation").is_some() {
            return (&text[..at], true);
        }
        at += line.len();
    }
    (text, false)
}

/// Whether a text has lines that name an action or an answer.
pub(super) fn has_lines(text: &str) -> bool {
    text.lines()
        .any(|line| label(line, "action").is_some() || label(line, "final answer").is_some())
}

/// The text after a label and its colon; `None` for a line that does not begin with the label.
fn label<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let mark = |c: char| c.is_whitespace() || matches!(c, '*' | '#' | '_');
    let line = line.trim_start_matches(mark);
    let head = line.get(..label.len())?;
    if !head.eq_ignore_ascii_case(label) {
        return None;
    }
    let rest = line[label.len()..]
        .trim_start_matches(['*', '_'])
        .strip_prefix(':')?;
    Some(rest.trim_start_matches(['*', '_']).trim())
}

/// Reads the lines; `None` where there are none. `input` is the JSON value after the text, if any.
pub(super) fn read(
    text: &str,
    input: Option<&Candidate<'_>>,
    tools: &[ToolDefinition],
) -> Option<Result<Action, String>> {
    let actions: Vec<&str> = text
        .lines()
        .filter_map(|line| label(line, "action"))
        .collect();
    let finals = text
        .lines()
        .filter(|line| label(line, "final answer").is_some())
        .count();
    match (actions.as_slice(), finals) {
        ([], 0) => None,
        // The label only announces the object, which is the action.
        ([""], 0)
            if input.is_some()
                && text
                    .trim_end()
                    .trim_end_matches("```json")
                    .trim_end_matches(['`', '\n', '*', ' '])
                    .ends_with(':') =>
        {
            None
        }
        ([], 1) if input.is_some() => None,
        ([], 1) => Some(final_answer(text)),
        ([action], 0) => Some(one(text, action, input, tools)),
        ([_, ..], 0) => Some(Err(
            "the answer holds more than one `Action:` line".to_owned()
        )),
        _ => Some(Err(
            "the answer holds more than one of `Action:` and `Final Answer:`".to_owned(),
        )),
    }
}

fn final_answer(text: &str) -> Result<Action, String> {
    let mut lines = text.lines();
    let first = lines
        .by_ref()
        .find_map(|line| label(line, "final answer"))
        .unwrap_or_default();
    let mut answer = first.to_owned();
    for line in lines {
        answer.push('\n');
        answer.push_str(line);
    }
    match answer.trim() {
        "" => Err("`Final Answer:` is empty".to_owned()),
        answer => Ok(Action::Message(answer.to_owned())),
    }
}

/// Reads one `Action:` line and its input: a JSON object, or plain text for a tool whose only argument is a text.
fn one(
    text: &str,
    action: &str,
    input: Option<&Candidate<'_>>,
    tools: &[ToolDefinition],
) -> Result<Action, String> {
    let (name, inline) = match action.find(['(', '[', ' ', '{']) {
        Some(at) if tool_meant(action, tools).is_none() && action[at..].starts_with(['(', '[']) => {
            (
                &action[..at],
                Some(action[at + 1..].trim_end().trim_end_matches([')', ']'])),
            )
        }
        _ => (action, None),
    };
    let name =
        name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '*'));
    let tool = tool_meant(name, tools);
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    if tool.is_none() && (name.is_empty() || !name.chars().all(fits)) {
        return Err("the `Action:` line does not name a tool".to_owned());
    }
    let inline = inline.filter(|inline| !inline.trim().is_empty());
    let behind = plain_input(text).filter(|text| !text.is_empty());
    let written = match (inline, behind) {
        (Some(inline), Some(behind)) if NO_INPUT.contains(&behind.as_str()) => {
            Some(inline.to_owned())
        }
        (Some(_), Some(_)) => return Err(TWO_INPUTS.to_owned()),
        (Some(inline), None) => Some(inline.to_owned()),
        (None, behind) => behind,
    };
    let arguments = match (input.map(|input| &input.value), written) {
        (Some(Err(fault)), _) => return Err(format!("in `Action Input:`, {fault}")),
        (Some(Ok(Value::Object(object))), None) => object.clone(),
        (Some(_), _) => return Err(NOT_PLAIN.to_owned()),
        (None, Some(written)) => text_input(&written, tool)?,
        (None, None) if tool.is_none() && ends(name) => return Ok(Action::EndTurn),
        (None, None) if requires(tool) => return Err("`Action Input:` is missing".to_owned()),
        (None, None) => Object::new(),
    };
    if tool.is_none() && ends(name) && !arguments.is_empty() {
        return Err("the `Action:` line ends the turn, and has an input".to_owned());
    }
    if tool.is_none() && ends(name) {
        return Ok(Action::EndTurn);
    }
    Ok(Action::Call(vec![ToolCall {
        tool: tool.map_or(name, |tool| tool.name.as_str()).to_owned(),
        arguments,
    }]))
}

const NOT_PLAIN: &str = "`Action Input:` is not one JSON object";

const NO_INPUT: [&str; 4] = ["None", "null", "none", "N/A"];

const TWO_INPUTS: &str = "the `Action:` line has an input, and so has `Action Input:`";

/// The text of `Action Input:` to the end, without a fence that only announces JSON.
fn plain_input(text: &str) -> Option<String> {
    let mut lines = text.lines();
    let first = lines
        .by_ref()
        .find_map(|line| label(line, "action input"))?;
    let mut input = first.to_owned();
    for line in lines {
        input.push('\n');
        input.push_str(line);
    }
    let input = input.trim().trim_start_matches("```json").trim_matches('`');
    Some(input.trim().to_owned())
}

/// Reads arguments that are not JSON: `None`, `name=value`, or the text of a tool's only argument.
fn text_input(written: &str, tool: Option<&ToolDefinition>) -> Result<Object, String> {
    if NO_INPUT.contains(&written) && !requires(tool) {
        return Ok(Object::new());
    }
    let properties = tool.and_then(|tool| tool.input_schema.get("properties"));
    let is_text = |name: &str| {
        properties
            .and_then(|all| all.get(name)?.get("type"))
            .is_some_and(|kind| kind == "string")
    };
    if let Some((name, value)) = written.split_once('=') {
        let (name, value) = (name.trim(), value.trim());
        let bare = !value.is_empty()
            && value
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let quoted = serde_json::from_str::<String>(value).ok();
        let value = quoted.or_else(|| bare.then(|| value.to_owned()));
        return match value {
            Some(value) if is_text(name) => {
                Ok(Object::from_iter([(name.to_owned(), value.into())]))
            }
            _ => Err(NOT_PLAIN.to_owned()),
        };
    }
    let lines = ["thought", "action", "final answer"];
    let more = |line: &str| lines.iter().any(|name| label(line, name).is_some());
    if only_text(tool).is_none() || written.lines().any(more) {
        return Err(NOT_PLAIN.to_owned());
    }
    let text = serde_json::from_str::<String>(written).unwrap_or_else(|_| written.to_owned());
    object_of(&Value::from(text), tool).ok_or_else(|| NOT_PLAIN.to_owned())
}
