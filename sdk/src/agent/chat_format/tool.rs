//! Lookups in the definitions of tools: the tool that a name means, and the arguments that it takes.

use serde_json::Value;

use super::fields::{Object, plain};
use crate::{domain::ToolDefinition, text::first_object};

/// The properties of a tool's arguments, where its definition names them.
pub(super) fn properties(tool: Option<&ToolDefinition>) -> Option<&Object> {
    tool.and_then(|tool| tool.input_schema.get("properties"))
        .and_then(Value::as_object)
}

/// Whether a tool's definition requires this argument.
pub(super) fn is_required(tool: Option<&ToolDefinition>, name: &str) -> bool {
    let required = tool.and_then(|tool| tool.input_schema.get("required"));
    required
        .and_then(Value::as_array)
        .is_some_and(|required| required.iter().any(|one| one == name))
}

/// The one required argument of a tool, where it is a string.
pub(super) fn only_text(tool: Option<&ToolDefinition>) -> Option<&str> {
    let required = tool?.input_schema.get("required")?.as_array()?;
    match required.as_slice() {
        [Value::String(name)] => {
            (properties(tool)?.get(name)?.get("type")? == "string").then_some(name.as_str())
        }
        _ => None,
    }
}

/// Whether a tool has a required argument.
pub(super) fn requires(tool: Option<&ToolDefinition>) -> bool {
    let required = tool.and_then(|tool| tool.input_schema.get("required"));
    required
        .and_then(Value::as_array)
        .is_some_and(|required| !required.is_empty())
}

/// Whether a name that no tool has means the end of the turn.
pub(super) fn ends(name: &str) -> bool {
    ["done", "finish", "finished", "end_turn"].contains(&plain(name).as_str())
}

/// Whether a name that no tool has means a last message.
pub(super) fn is_final(name: &str) -> bool {
    plain(name) == "final_answer"
}

/// The arguments that a field's value gives: an object, the JSON text of one, or the text of a tool's only argument.
pub(super) fn object_of(value: &Value, tool: Option<&ToolDefinition>) -> Option<Object> {
    match value {
        Value::Object(arguments) => Some(arguments.clone()),
        Value::String(text) if text.trim().is_empty() && only_text(tool).is_none() => {
            Some(Object::new())
        }
        Value::String(text) if text.trim_start().starts_with('{') => {
            let whole = text.trim_end().ends_with('}');
            first_object(text).ok().filter(|_| whole)
        }
        Value::String(text) => {
            let name = only_text(tool)?;
            Some(Object::from_iter([(
                name.to_owned(),
                Value::from(text.as_str()),
            )]))
        }
        _ => None,
    }
}
