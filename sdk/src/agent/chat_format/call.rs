//! Reads one call: the tool that is meant, and its arguments.

use serde_json::Value;

use super::{
    fields::{ARGUMENTS, COMMENTARY, Fields, Object, Read, TOOL, argument_field},
    tool::{ends, is_final, is_required, object_of, properties},
};
use crate::{
    domain::{Action, ToolCall, ToolDefinition},
    text::tool_meant,
};

/// The call of a tool; where no tool has this name, perhaps the end of the turn or a message.
pub(super) fn call(
    fields: &Fields<'_>,
    key: &str,
    name: &str,
    tools: &[ToolDefinition],
) -> Read<Action> {
    let tool = tool_meant(name, tools);
    let (place, arguments) = arguments(fields, key, tool)?;
    if tool.is_none() && ends(name) && arguments.is_none_or(is_empty) && place.is_none() {
        return Ok(Action::EndTurn);
    }
    if let (None, true, Some(Value::String(text))) = (tool, is_final(name), arguments) {
        return Ok(Action::Message(text.clone()));
    }
    let arguments = match (place, arguments) {
        (Some(flattened), _) => flattened,
        (None, Some(value)) => object_of(value, tool).ok_or_else(|| {
            let place = argument_field(fields).unwrap_or("arguments");
            format!("`{place}` is not a JSON object")
        })?,
        (None, None) => Object::new(),
    };
    Ok(Action::Call(vec![ToolCall {
        tool: tool.map_or(name, |tool| tool.name.as_str()).to_owned(),
        arguments,
    }]))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// The arguments: fields beside the tool's name, or a field of their own.
type Place<'a> = (Option<Object>, Option<&'a Value>);

fn arguments<'a>(fields: &Fields<'a>, key: &str, tool: Option<&ToolDefinition>) -> Read<Place<'a>> {
    let known = properties(tool);
    let is_property = |name: &str| known.is_some_and(|known| known.contains_key(name));
    let mut own: Option<(&str, &Value)> = None;
    let mut beside = Object::new();
    for (name, written, value) in &fields.0 {
        if name == key || (name == "done" && !is_required(tool, written)) {
            continue;
        }
        if let Some(place) = ARGUMENTS.iter().find(|place| **place == name.as_str()) {
            let fits = |inner: &Object| inner.keys().all(|key| is_property(key));
            let argument = match value {
                Value::Object(inner)
                    if is_property(written) && fits(inner) && !inner.is_empty() =>
                {
                    return Err(format!(
                        "`{place}` may be the arguments or one of them: put all arguments into `arguments`"
                    ));
                }
                Value::Object(inner) => is_property(written) && !fits(inner),
                Value::String(text) if text.trim_start().starts_with('{') => false,
                _ => is_property(written),
            };
            if !argument {
                if let Some((before, other)) = own
                    && other != *value
                {
                    return Err(format!(
                        "the object has `{before}` and `{place}`: put all arguments into `arguments`"
                    ));
                }
                own = Some((place, value));
                continue;
            }
        } else if COMMENTARY.contains(&name.as_str()) {
            if !is_property(written) {
                continue;
            }
            if !is_required(tool, written) {
                return Err(format!(
                    "`{name}` may be an argument or a comment: put all arguments into `arguments`"
                ));
            }
        } else if TOOL.contains(&name.as_str()) && !is_property(written) && name != "name" {
            if fields.get(key) == Some(value) {
                continue;
            }
            return Err(format!(
                "the object names two tools, in `{key}` and `{name}`"
            ));
        } else if is_envelope(name, value, is_property(written)) {
            continue;
        }
        beside.insert((*written).to_owned(), (*value).clone());
    }
    placed(own, beside)
}

/// The one place of the arguments; two places are refused.
fn placed<'a>(own: Option<(&str, &'a Value)>, beside: Object) -> Read<Place<'a>> {
    match (own, beside.keys().next()) {
        (None, None) => Ok((None, None)),
        (None, Some(_)) => Ok((Some(beside), None)),
        (Some((_, value)), None) => Ok((None, Some(value))),
        // An id beside arguments is the id of the call.
        (Some((_, value)), Some(_))
            if beside
                .keys()
                .all(|key| matches!(key.as_str(), "id" | "call_id" | "index")) =>
        {
            Ok((None, Some(value)))
        }
        (Some((place, _)), Some(extra)) => Err(format!(
            "the object has `{place}` and beside it `{}`: put all arguments into `{place}`",
            place_name(extra)
        )),
    }
}

/// Whether a field such as `"type": "function"` only says that the object is a call.
fn is_envelope(name: &str, value: &Value, is_property: bool) -> bool {
    let says_call = ["function", "tool_call", "tool_use", "function_call"]
        .iter()
        .any(|kind| value == kind);
    name == "type" && says_call && !is_property
}

/// A field's name for the reason of a refusal, if it is short and has only letters, digits and signs of names.
fn place_name(key: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match key.chars().count() <= 40 && key.chars().all(fits) {
        true => key.to_owned(),
        false => "a further field".to_owned(),
    }
}
