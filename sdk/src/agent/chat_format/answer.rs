//! Reads an answer as an action, in each form that instruct models write, where its meaning is unambiguous.

use serde_json::{Value, json};

use super::{
    call::call,
    fields::{ARGUMENTS, COMMENTARY, Fields, Object, Read, TOOL, argument_field},
    react,
};
use crate::{
    domain::{Action, ToolDefinition},
    text::{Candidate, NoObject, candidates, without_thinking},
};

/// Fields with a call as an object.
const CALL: [&str; 5] = ["function_call", "tool_call", "function", "tool", "action"];
/// Fields beside a call in the formats of model vendors.
const ENVELOPE: [&str; 6] = ["id", "call_id", "type", "index", "role", "content"];
/// The characters of a message to the user that a model writes which is held to [`schema`].
const MESSAGE_CHARS: usize = 600;

/// The answers that the fallback form asks for, as a JSON Schema: a call of one of the tools, a message, or the end of the turn.
pub(super) fn schema(tools: &[ToolDefinition]) -> Value {
    let object = |properties: Value| {
        let required: Vec<&String> = properties
            .as_object()
            .into_iter()
            .flat_map(|of| of.keys())
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let call = |tool: &ToolDefinition| {
        object(json!({ "tool": { "const": tool.name }, "arguments": closed(&tool.input_schema) }))
    };
    let mut any: Vec<Value> = tools.iter().map(call).collect();
    any.push(object(
        json!({ "message": { "type": "string", "maxLength": MESSAGE_CHARS } }),
    ));
    any.push(object(json!({ "done": { "const": true } })));
    json!({ "type": "object", "anyOf": any })
}

/// The schema of a tool's arguments without other arguments than those that it names: a small model that may write any writes the
/// schema itself.
fn closed(schema: &Value) -> Value {
    if schema.to_string().contains("\"$ref\"") {
        // A reference is seen from the root, which is another one here.
        return json!({ "type": "object" });
    }
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut()
        && fields.contains_key("properties")
    {
        fields.entry("additionalProperties").or_insert(false.into());
    }
    schema
}

/// Reads an answer; the reason of a refusal names the place and repeats no value.
pub(super) fn read_action(answer: &str, tools: &[ToolDefinition]) -> Read<Action> {
    let actions = |value: &Value| match value {
        Value::Array(items) => items.iter().any(Value::is_object),
        _ => value.is_object(),
    };
    let found = match candidates(answer, actions) {
        Ok(found) => found,
        Err(NoObject::Absent) => {
            let text = without_thinking(answer);
            return react::read(react::before_observation(&text).0, None, tools)
                .unwrap_or_else(|| Err(NoObject::Absent.to_string()));
        }
        Err(fault) => return Err(fault.to_string()),
    };
    let (list, rest) = before_observation(found.list, found.rest);
    let Some((first, others)) = list.split_first() else {
        return Err(NoObject::Absent.to_string());
    };
    if let Some(read) = react::read(first.before, Some(first), tools) {
        let behind = rest
            .trim()
            .trim_matches(|c| matches!(c, '`' | ')' | ']'))
            .trim();
        return match others.is_empty() && (behind.is_empty() || !react::has_lines(behind)) {
            true => read,
            false => Err("the answer holds more than one `Action:`".to_owned()),
        };
    }
    if others.iter().any(|other| react::has_lines(other.before)) || react::has_lines(rest) {
        return Err(
            "the answer holds an object and beside it an `Action:` or `Final Answer:` line"
                .to_owned(),
        );
    }
    combined(&list, tools)
}

/// The values before the first line that begins with `Observation:`, and the text after them. The model invented the rest.
fn before_observation<'a>(
    list: Vec<Candidate<'a>>,
    rest: &'a str,
) -> (Vec<Candidate<'a>>, &'a str) {
    let mut kept = Vec::new();
    for candidate in list {
        let (before, cut) = react::before_observation(candidate.before);
        if cut {
            return (kept, before);
        }
        kept.push(candidate);
    }
    (kept, react::before_observation(rest).0)
}

/// The action of several objects: calls in a row, or one action repeated.
fn combined(list: &[Candidate<'_>], tools: &[ToolDefinition]) -> Read<Action> {
    let mut actions: Vec<Action> = Vec::new();
    let mut in_a_row = true;
    for (index, candidate) in list.iter().enumerate() {
        let value = candidate.value.as_ref().map_err(ToString::to_string)?;
        let action = match value {
            Value::Object(object) => read_object(object, tools)?,
            Value::Array(items) => read_array(items, tools)?,
            _ => return Err(NoObject::Absent.to_string()),
        };
        if actions.last() != Some(&action) {
            actions.push(action);
            in_a_row &= index == 0 || candidate.follows();
        }
    }
    let count = actions.len();
    let one = match actions.as_slice() {
        [action] => Some(action.clone()),
        _ if in_a_row => calls(actions),
        _ => None,
    };
    one.ok_or_else(|| format!("the answer holds {count} different actions; write one"))
}

fn calls(actions: Vec<Action>) -> Option<Action> {
    let mut calls = Vec::new();
    for action in actions {
        match action {
            Action::Call(more) => calls.extend(more),
            _ => return None,
        }
    }
    Some(Action::Call(calls))
}

/// The action of an array: several calls, or a single action.
fn read_array(items: &[Value], tools: &[ToolDefinition]) -> Read<Action> {
    let mut actions = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Value::Object(object) = item else {
            return Err(format!("item {index} of the array is not an object"));
        };
        actions.push(
            read_object(object, tools)
                .map_err(|why| format!("in item {index} of the array, {why}"))?,
        );
    }
    match actions.len() {
        1 => actions.pop().ok_or_else(|| NoObject::Absent.to_string()),
        count => calls(actions).ok_or_else(|| {
            format!("the array holds {count} actions, and not all of them are calls; write one")
        }),
    }
}

fn read_object(object: &Object, tools: &[ToolDefinition]) -> Read<Action> {
    let fields = Fields::of(object)?;
    if let Some(action) = enclosed(&fields, tools)? {
        not_done(&fields)?;
        return Ok(action);
    }
    let named = TOOL.iter().find_map(|key| Some((*key, fields.get(key)?)));
    let message = fields.get("message");
    let done = fields
        .get("done")
        .filter(|value| **value != Value::Bool(false));
    match (named, message, done) {
        (Some((key, Value::String(tool))), _, None) if !tool.trim().is_empty() => {
            call(&fields, key, tool.trim(), tools)
        }
        (None, Some(Value::String(text)), None) => match argument_field(&fields) {
            None => Ok(Action::Message(text.clone())),
            Some(key) => Err(format!(
                "the object has `message` and `{key}`, and no `tool`"
            )),
        },
        (None, None, Some(Value::Bool(true))) => Ok(Action::EndTurn),
        (None, None, None) => Err("the object has none of `tool`, `message` and `done`".to_owned()),
        (Some((key, _)), _, None) => Err(format!("`{key}` is not the name of a tool")),
        (None, Some(_), None) => Err("`message` is not a string".to_owned()),
        (None, None, Some(_)) => Err("`done` is not true".to_owned()),
        _ => Err("the object has more than one of `tool`, `message` and `done`".to_owned()),
    }
}

fn not_done(fields: &Fields<'_>) -> Read<()> {
    match fields.get("done") {
        None | Some(Value::Bool(false)) => Ok(()),
        Some(_) => Err("the object has more than one of `tool`, `message` and `done`".to_owned()),
    }
}

/// The calls within `tool_calls`, or the call within a field such as `function`.
fn enclosed(fields: &Fields<'_>, tools: &[ToolDefinition]) -> Read<Option<Action>> {
    let (key, action) = if let Some(Value::Array(items)) = fields.get("tool_calls") {
        if items.is_empty() {
            return Ok(None);
        }
        let action = match items.iter().all(Value::is_object) {
            true => read_array(items, tools)?,
            false => return Err("`tool_calls` holds something that is not an object".to_owned()),
        };
        ("tool_calls", action)
    } else {
        let inner = CALL.into_iter().find_map(|key| match fields.get(key) {
            Some(Value::Object(inner)) => Some((key, inner)),
            _ => None,
        });
        let Some((key, inner)) = inner else {
            return Ok(None);
        };
        (
            key,
            read_object(inner, tools).map_err(|why| format!("in `{key}`, {why}"))?,
        )
    };
    if !matches!(action, Action::Call(_)) {
        return Err(format!("`{key}` holds no call"));
    }
    let beside = |name: &str| name == key || COMMENTARY.contains(&name) || ENVELOPE.contains(&name);
    match fields.0.iter().find(|(name, _, _)| !beside(name)) {
        None => Ok(Some(action)),
        Some((name, _, _))
            if ARGUMENTS.contains(&name.as_str()) || TOOL.contains(&name.as_str()) =>
        {
            Err(format!(
                "the object has `{key}` and beside it `{name}`: put all of the call into `{key}`"
            ))
        }
        Some(_) => Err(format!(
            "the object has `{key}` and beside it other fields: put all of the call into `{key}`"
        )),
    }
}
