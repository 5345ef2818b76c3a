//! Checks tool calls that a model made, by its own interface or in a text.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    WrittenCall,
    coerce::{obeying, schema_of},
    written_call::{call, meant, refused, unknown},
};
use crate::{
    contract::{FinishReason, ToolChoice},
    domain::{NativeCall, ToolDefinition},
    error::{Error, Result},
    text::JsonSchema,
};

const NEW: &str = "ToolCalls::new";

/// Reads the calls of an answer: each names a tool of the request, its arguments are a JSON object that obeys the tool's
/// schema, and the calls agree with the request's choice.
///
/// What is slightly off is read where it has one meaning, and the call is marked ([`NativeCall::repaired`]): a name with a prefix
/// such as `functions.`, or in another spelling of the one tool that it fits; a number or a truth value in a text, an object in a
/// text, `8.0` for an integer, null for a field that need not be there.
///
/// Only with the feature `json-schema`.
///
/// ```
/// use journeyman::{
///     contract::{FinishReason, ToolChoice},
///     domain::ToolDefinition,
///     text::{ToolCalls, WrittenCall},
/// };
///
/// let schema = serde_json::json!({"type": "object", "properties": {"cups": {"type": "integer"}}, "required": ["cups"]});
/// let brew = ToolDefinition::new("brew", "Brews a drink.", schema);
/// let calls = ToolCalls::new(&[brew], &ToolChoice::Required)?;
/// let written = |arguments: &str| WrittenCall::new("brew", arguments).with_id("call-1");
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
                match tools.is_empty() {
                    true => format!("{choice} has to be called, and the request has no tools"),
                    false => format!("{choice} has to be called, and the request does not have it"),
                },
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
        call(written, tool, |arguments| obeying(schema, tool, arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

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
        refused(
            &[],
            ToolChoice::Required,
            "one tool at least has to be called, and the request has no tools",
        );
        refused(
            &[rest],
            ToolChoice::Named("swim".to_owned()),
            "the tool `swim` has to be called, and the request does not have it",
        );
        let bad = tool("bad", json!({"type": "object", "required": "at"}));
        refused(&[bad], ToolChoice::Auto, "the schema of tool `bad`");
    }
}
