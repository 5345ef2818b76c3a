//! Checks tool calls that a model made, by its own interface or in a text.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{JsonSchema, coerce::coerced, lenient};
use crate::{
    contract::{FinishReason, ToolChoice},
    domain::{NativeCall, ToolCall, ToolDefinition},
    error::{Error, ErrorKind, Result},
};

const NEW: &str = "ToolCalls::new";
const READ: &str = "ToolCalls::read";

/// A call as a model's interface gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenCall {
    /// Its id; empty where there is none.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as JSON.
    pub arguments: String,
}

/// Reads the calls of an answer: each names a tool of the request, its arguments are a JSON object that obeys the tool's
/// schema, and the calls agree with the request's choice.
///
/// What is slightly off is read where it has one meaning, and the call is marked ([`NativeCall::repaired`]): a name with a prefix
/// such as `functions.`, or in another spelling of the one tool that it fits; a number or a truth value in a text, an object in a
/// text, `8.0` for an integer, null for a field that need not be there.
///
/// ```
/// use journeyman::{
///     contract::{FinishReason, ToolChoice},
///     domain::ToolDefinition,
///     text::{ToolCalls, WrittenCall},
/// };
///
/// let brew = ToolDefinition {
///     name: "brew".to_owned(),
///     description: "Brews a drink.".to_owned(),
///     input_schema: serde_json::json!({"type": "object", "properties": {"cups": {"type": "integer"}}, "required": ["cups"]}),
/// };
/// let calls = ToolCalls::new(&[brew], &ToolChoice::Required)?;
/// let written = |arguments: &str| WrittenCall {
///     id: "call-1".to_owned(),
///     tool: "brew".to_owned(),
///     arguments: arguments.to_owned(),
/// };
/// let read = calls.read(vec![written(r#"{"cups": 2}"#)], FinishReason::EndOfText)?;
/// assert_eq!(read[0].call.arguments["cups"], 2);
///
/// let read = calls.read(vec![written(r#"{"cups": "2"}"#)], FinishReason::EndOfText)?;
/// assert_eq!(read[0].call.arguments["cups"], 2);
/// assert!(read[0].repaired);
///
/// let error = calls.read(vec![written(r#"{"cups": "two"}"#)], FinishReason::EndOfText).unwrap_err();
/// assert!(error.message().contains("/cups"));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolCalls {
    schemas: BTreeMap<String, JsonSchema>,
    choice: ToolChoice,
}

impl ToolCalls {
    /// Compiles the schemas of a request's tools.
    ///
    /// # Errors
    /// `Invalid` for two tools of one name, a choice of a tool that is not there, a choice that demands a call without
    /// tools, and a schema that [`JsonSchema::new`] refuses.
    pub fn new(tools: &[ToolDefinition], choice: &ToolChoice) -> Result<Self> {
        let mut schemas = BTreeMap::new();
        for tool in tools {
            let schema = schema_of(tool).map_err(|error| {
                let why = error.to_string();
                Error::invalid(NEW, format!("the schema of tool `{}`: {why}", tool.name))
                    .hint("put right the tool's input_schema")
            })?;
            if schemas.insert(tool.name.clone(), schema).is_some() {
                return Err(
                    Error::invalid(NEW, format!("two tools are named `{}`", tool.name))
                        .hint("give each tool a name of its own"),
                );
            }
        }
        let lacks = match choice {
            ToolChoice::Named(name) => !schemas.contains_key(name),
            ToolChoice::Required => schemas.is_empty(),
            ToolChoice::Auto | ToolChoice::None => false,
        };
        if lacks {
            return Err(Error::invalid(
                NEW,
                format!("the choice {choice:?} fits none of the request's tools"),
            )
            .hint("add the tool to GenerateRequest::tools, or choose ToolChoice::Auto"));
        }
        Ok(Self {
            schemas,
            choice: choice.clone(),
        })
    }

    /// The schema of a tool's arguments, which is one of objects; `None` for a tool that is not there.
    pub fn schema(&self, tool: &str) -> Option<Value> {
        let mut schema = self.schemas.get(tool)?.as_value().clone();
        if let Value::Object(fields) = &mut schema {
            fields.entry("type").or_insert_with(|| json!("object"));
        }
        Some(schema)
    }

    /// Whether the model may call a tool or not, as it likes.
    pub fn is_free(&self) -> bool {
        matches!(self.choice, ToolChoice::Auto | ToolChoice::None)
    }

    /// Reads the calls of an answer. In an answer that was cut ([`FinishReason::is_cut`]) the last call is left out if it is not whole.
    ///
    /// # Errors
    /// `Model` for a call of an unknown tool, arguments that are no JSON object of the tool's schema, and calls that the
    /// choice does not permit or demands. The error repeats no argument.
    pub fn read(&self, written: Vec<WrittenCall>, finish: FinishReason) -> Result<Vec<NativeCall>> {
        let (count, is_cut) = (written.len(), finish.is_cut());
        let mut calls = Vec::with_capacity(count);
        for (at, written) in written.into_iter().enumerate() {
            match self.one(written) {
                Ok(call) => calls.push(call),
                Err(_) if is_cut && at + 1 == count => {}
                Err(error) => return Err(error),
            }
        }
        let other = |name: &String| calls.iter().any(|call| call.call.tool != *name);
        let fault = match &self.choice {
            ToolChoice::None if count > 0 => "a tool is called, though none may be",
            ToolChoice::Required | ToolChoice::Named(_) if count == 0 && !is_cut => {
                "no tool is called, though one must be"
            }
            ToolChoice::Named(name) if other(name) => "another tool is called than was named",
            _ => return Ok(calls),
        };
        Err(refused(fault.to_owned()))
    }

    fn one(&self, written: WrittenCall) -> Result<NativeCall> {
        let tool = meant(&written.tool, self.schemas.keys().map(String::as_str));
        let schema = tool.and_then(|tool| Some((tool, self.schemas.get(tool)?)));
        let Some((tool, schema)) = schema else {
            return Err(unknown(self.schemas.keys().map(String::as_str)));
        };
        call(written, tool, Some(schema))
    }
}

/// Checks one call, as [`ToolCalls::read`] does. A tool whose schema cannot be used takes any arguments.
pub(crate) fn checked_call(written: WrittenCall, tools: &[ToolDefinition]) -> Result<NativeCall> {
    match tool_meant(&written.tool, tools) {
        Some(tool) => call(written, &tool.name, schema_of(tool).ok().as_ref()),
        None => Err(unknown(tools.iter().map(|tool| tool.name.as_str()))),
    }
}

fn call(written: WrittenCall, tool: &str, schema: Option<&JsonSchema>) -> Result<NativeCall> {
    let Some((arguments, in_a_text)) = arguments(&written.arguments) else {
        return Err(refused(format!(
            "the arguments of `{tool}` are no JSON object"
        )));
    };
    let value = Value::Object(arguments.clone());
    let taken = match schema {
        None => Some(value.clone()),
        Some(schema) => coerced(schema, &value),
    };
    let Some(Value::Object(taken)) = taken else {
        let fault = schema.and_then(|schema| schema.faults(&value).into_iter().next());
        let fault = fault.map_or(String::new(), |fault| format!(": {fault}"));
        return Err(refused(format!(
            "the arguments of `{tool}` do not obey its schema{fault}"
        )));
    };
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

/// The schema of a tool's arguments. A tool without arguments has none on many servers.
fn schema_of(tool: &ToolDefinition) -> Result<JsonSchema> {
    let is_empty = match &tool.input_schema {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    JsonSchema::new(match is_empty {
        true => json!({"type": "object"}),
        false => tool.input_schema.clone(),
    })
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

fn meant<'a>(name: &str, tools: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
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
fn unknown<'a>(tools: impl Iterator<Item = &'a str>) -> Error {
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

fn refused(what: String) -> Error {
    Error::new(ErrorKind::Model, READ, what)
        .hint("ask again, or use a model that was trained to call tools")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: Value) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: String::new(),
            input_schema: schema,
        }
    }

    fn tools() -> [ToolDefinition; 2] {
        let place =
            json!({"type": "object", "properties": {"at": {"enum": ["mast"]}}, "required": ["at"]});
        [tool("look", place), tool("rest", json!({}))]
    }

    /// What becomes of calls: the tools that are read, or the error's message.
    fn check(choice: ToolChoice, calls: &[(&str, &str)], finish: FinishReason, expect: &str) {
        let written = calls.iter().map(|(tool, arguments)| WrittenCall {
            id: String::new(),
            tool: (*tool).to_owned(),
            arguments: (*arguments).to_owned(),
        });
        let reader = ToolCalls::new(&tools(), &choice).unwrap();
        let found = match reader.read(written.collect(), finish) {
            Ok(calls) => calls
                .iter()
                .map(|call| format!("{} ", call.call.tool))
                .collect(),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Model);
                error.message().to_owned()
            }
        };
        assert_eq!(found.trim(), expect);
    }

    #[test]
    fn calls_are_held_against_schema_and_choice() {
        use FinishReason::{EndOfText, Length};
        use ToolChoice::{Auto, Named, None, Required};
        let good = ("look", r#"{"at":"mast"}"#);
        check(Auto, &[], EndOfText, "");
        check(Auto, &[good, ("rest", "")], EndOfText, "look rest");
        check(None, &[], EndOfText, "");
        check(Required, &[good], EndOfText, "look");
        check(
            Named("look".to_owned()),
            &[good, good],
            EndOfText,
            "look look",
        );
        check(Required, &[good, ("look", r#"{"at":"ma"#)], Length, "look");
        check(Required, &[], Length, "");

        check(
            None,
            &[good],
            EndOfText,
            "a tool is called, though none may be",
        );
        check(
            Required,
            &[],
            EndOfText,
            "no tool is called, though one must be",
        );
        check(
            Named("rest".to_owned()),
            &[good],
            EndOfText,
            "another tool is called than was named",
        );
        check(
            Auto,
            &[("swim", "{}")],
            EndOfText,
            "no tool has the name of the call; there are `look`, `rest`",
        );
        for text in ["[1]", "mast", r#"{"at":"#, "{} {}"] {
            let expect = "the arguments of `look` are no JSON object";
            check(Auto, &[("look", text)], EndOfText, expect);
            check(Auto, &[("look", text), good], Length, expect);
        }
        let reader = ToolCalls::new(&tools(), &Auto).unwrap();
        let secret = WrittenCall {
            tool: "look".to_owned(),
            arguments: r#"{"at":"hunter22"}"#.to_owned(),
            ..WrittenCall::default()
        };
        let error = reader.read(vec![secret], EndOfText).unwrap_err();
        assert!(
            error.message().contains("obey its schema: at /at"),
            "{error}"
        );
        assert!(!error.to_string().contains("hunter22"), "{error}");
    }

    #[test]
    fn a_name_that_is_slightly_off_has_one_meaning_or_none() {
        let tools = ["set_level", "setLevel2", "look.up", "lookup", "rest"];
        let tools = tools.map(|name| tool(name, json!({})));
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

    #[test]
    fn a_request_that_cannot_be_met_is_refused() {
        let refused = |tools: &[ToolDefinition], choice: ToolChoice, expect: &str| {
            let error = ToolCalls::new(tools, &choice).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.message().contains(expect), "{error}");
        };
        let [look, rest] = tools();
        refused(
            &[look.clone(), look],
            ToolChoice::Auto,
            "two tools are named `look`",
        );
        refused(&[], ToolChoice::Required, "fits none");
        refused(&[rest], ToolChoice::Named("swim".to_owned()), "fits none");
        let bad = tool("bad", json!({"type": "object", "required": "at"}));
        refused(&[bad], ToolChoice::Auto, "the schema of tool `bad`");
    }
}
