//! Tool calls as a model wrote them: which tool a name means, and what the arguments are.

use serde_json::{Map, Value};

#[cfg(feature = "json-schema")]
use super::coerce::{obeying, schema_of};
use super::lenient;
use crate::{
    domain::{NativeCall, ToolCall, ToolDefinition},
    error::{Error, ErrorKind, Result},
};

const READ: &str = "ToolCalls::read";

/// A call as a model's interface gives it.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenCall {
    /// Its id; empty where there is none.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as JSON.
    pub arguments: String,
}

impl WrittenCall {
    /// A call without an id.
    pub fn new(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: String::new(),
            tool: tool.into(),
            arguments: arguments.into(),
        }
    }

    /// The same with an id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// The same with another tool.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = tool.into();
        self
    }

    /// The same with other arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl Into<String>) -> Self {
        self.arguments = arguments.into();
        self
    }
}

/// Checks one call, as `ToolCalls::read` does. A tool whose schema cannot be used takes any arguments; without the feature
/// `json-schema` each tool does.
pub(crate) fn checked_call(written: WrittenCall, tools: &[ToolDefinition]) -> Result<NativeCall> {
    match tool_meant(&written.tool, tools) {
        Some(tool) => call(written, &tool.name, |arguments| taken(tool, arguments)),
        None => Err(unknown(tools.iter().map(|tool| tool.name.as_str()))),
    }
}

#[cfg(feature = "json-schema")]
fn taken(
    tool: &ToolDefinition,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    match schema_of(tool) {
        Ok(schema) => obeying(&schema, &tool.name, arguments),
        Err(_) => Ok(arguments.clone()),
    }
}

#[cfg(not(feature = "json-schema"))]
fn taken(_: &ToolDefinition, arguments: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    Ok(arguments.clone())
}

/// A call of a tool, with the arguments that `taken` makes of those that were written, or its reason to refuse them.
pub(super) fn call(
    written: WrittenCall,
    tool: &str,
    taken: impl FnOnce(&Map<String, Value>) -> Result<Map<String, Value>, String>,
) -> Result<NativeCall> {
    let Some((arguments, in_a_text)) = arguments(&written.arguments) else {
        return Err(refused(format!(
            "the arguments of `{tool}` are no JSON object"
        )));
    };
    let taken = taken(&arguments).map_err(refused)?;
    let repaired = in_a_text || taken != arguments || written.tool != tool;
    let call = ToolCall {
        tool: tool.to_owned(),
        arguments: taken,
    };
    Ok(NativeCall {
        repaired,
        ..NativeCall::new(written.id, call)
    })
}

/// The arguments of a call, and whether they stood in a text within the text: in a fence, or as a JSON string.
fn arguments(written: &str) -> Option<(Map<String, Value>, bool)> {
    let text = written.trim();
    if matches!(text, "" | "null") {
        return Some((Map::new(), false));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Some((arguments, false)),
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(arguments)) => Some((arguments, true)),
            _ => None,
        },
        Ok(_) => None,
        Err(_) => {
            let inner = text
                .strip_prefix("```json")
                .or_else(|| text.strip_prefix("```"));
            let inner = inner
                .map_or(text, |inner| inner.trim_end_matches('`'))
                .trim();
            match lenient::read(inner, lenient::MAX_DEPTH).value {
                Ok((Value::Object(all), length)) if length == inner.len() => Some((all, true)),
                _ => None,
            }
        }
    }
}

/// The tool that a name means: itself; without what models and servers put around names; or the only one that differs in case,
/// signs between words and blanks alone.
pub(crate) fn tool_meant<'a>(
    name: &str,
    tools: &'a [ToolDefinition],
) -> Option<&'a ToolDefinition> {
    let found = meant(name, tools.iter().map(|tool| tool.name.as_str()))?;
    tools.iter().find(|tool| tool.name == found)
}

pub(super) fn meant<'a>(
    name: &str,
    tools: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    const PREFIXES: [&str; 4] = ["functions.", "tools.", "default_api.", "function."];
    let letters = |text: &str| {
        let kept = text.chars().filter(|c| c.is_alphanumeric());
        kept.flat_map(char::to_lowercase).collect::<String>()
    };
    let bare = name.trim();
    let bare = PREFIXES
        .iter()
        .find_map(|prefix| bare.strip_prefix(prefix))
        .unwrap_or(bare);
    // Kimi numbers its calls: `functions.brew:0`.
    let bare = match bare.rsplit_once(':') {
        Some((bare, number)) if number.chars().all(|c| c.is_ascii_digit()) => bare,
        _ => bare,
    };
    let is = |wanted: &str| tools.clone().find(|tool| *tool == wanted);
    is(name).or_else(|| is(bare)).or_else(|| {
        let wanted = letters(bare);
        let mut near = tools.clone().filter(|tool| letters(tool) == wanted);
        near.next()
            .filter(|_| !wanted.is_empty() && near.next().is_none())
    })
}

/// The refusal of a name that no tool has, with the names of the tools, as many as help.
pub(super) fn unknown<'a>(tools: impl Iterator<Item = &'a str>) -> Error {
    const MOST: usize = 20;
    let mut names: Vec<String> = tools.map(|name| format!("`{}`", clipped(name))).collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    refused(match names.is_empty() {
        true => "a tool is called, and there is none".to_owned(),
        false => format!(
            "no tool has the name of the call; there are {}{more}",
            names.join(", ")
        ),
    })
}

/// A name of bounded length without control characters: it may come from a foreign server.
fn clipped(name: &str) -> String {
    let plain = name.chars().filter(|c| !c.is_control());
    plain.take(64).collect()
}

pub(super) fn refused(what: String) -> Error {
    Error::new(ErrorKind::Model, READ, what)
        .hint("ask again, or use a model that was trained to call tools")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_slightly_off_has_one_meaning_or_none() {
        let tools = ["set_level", "setLevel2", "look.up", "lookup", "rest"];
        let tools = tools.map(|name| ToolDefinition::new(name, "", Value::Null));
        for (name, means) in [
            ("set_level", Some("set_level")),
            ("functions.set_level", Some("set_level")),
            ("default_api.set_level", Some("set_level")),
            ("functions.set_level:0", Some("set_level")),
            (" set_level\n", Some("set_level")),
            ("SetLevel", Some("set_level")),
            ("set-level", Some("set_level")),
            ("Set Level", Some("set_level")),
            ("set_level_2", Some("setLevel2")),
            // Two tools differ from it alike.
            ("LookUp", None),
            ("look_up", None),
            ("lookup", Some("lookup")),
            ("set", None),
            ("set_levels", None),
            ("...", None),
            ("", None),
        ] {
            let found = tool_meant(name, &tools).map(|tool| tool.name.as_str());
            assert_eq!(found, means, "{name:?}");
        }
    }
}
