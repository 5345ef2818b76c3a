//! Reads a model's answer as an action: calls by its own interface, calls in a published form in the text, an object, a message.

use serde_json::Value;

use super::{answer, native};
use crate::{
    contract::Generation,
    domain::{Action, ToolCall, ToolDefinition},
    text::{
        PublishedCalls, WrittenCall, begins_calls, checked_call, has_marks, message,
        published_calls, tool_meant, without_thinking,
    },
};

/// An answer that was read.
#[derive(Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) action: Action,
    /// Whether a call was not written as its tool wants it, and was put right without loss.
    pub(super) repaired: bool,
}

/// An answer that the model is to write again.
#[derive(Debug, PartialEq)]
pub(super) struct Refused {
    /// Why, in words that repeat no value.
    pub(super) reason: String,
    /// The calls as they are written, where they only do not fit the tools: the world says so too, if the model does not mend them.
    pub(super) calls: Option<Action>,
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self {
            reason,
            calls: None,
        }
    }
}

/// Reads an answer of a model with an interface for tools (`is_native`) or without one.
pub(super) fn read(
    reply: &Generation,
    tools: &[ToolDefinition],
    is_native: bool,
) -> Result<Taken, Refused> {
    if !reply.calls.is_empty() {
        let mended = reply.calls.iter().any(|made| made.repaired);
        let calls = reply.calls.iter().map(|made| made.call.clone()).collect();
        let taken = held_against(calls, tools)?;
        return Ok(Taken {
            repaired: taken.repaired || mended,
            ..taken
        });
    }
    let is_tool = |name: &str| tool_meant(name, tools).is_some();
    let published = published_calls(&reply.text, &is_tool);
    if begins_calls(&reply.text)
        && let Some(found) = published
    {
        return checked(found.calls, tools);
    }
    let text = message(&reply.text);
    let read = match is_native {
        true => native::read(&text, reply.finish, tools),
        false => answer::read_action(&text, tools),
    };
    // Of the forms without marks those with which the answer begins. Objects were read before.
    let begins = |found: &PublishedCalls| {
        let behind = without_thinking(&reply.text);
        let words = without_thinking(&found.words);
        words.trim().is_empty() && !behind.trim_start().starts_with('{')
    };
    match (read, published.filter(begins)) {
        (Ok(Action::Call(calls)), _) => held_against(calls, tools),
        (Ok(Action::Message(_)) | Err(_), Some(found)) => checked(found.calls, tools),
        (Ok(Action::Message(said)), None) if has_marks(&said) => Err(Refused::from(
            "control tokens stand in it, and no call that can be read".to_owned(),
        )),
        (Ok(action), _) => Ok(Taken {
            action,
            repaired: false,
        }),
        (Err(reason), None) => Err(reason.into()),
    }
}

/// Holds calls with their arguments against the tools.
fn held_against(calls: Vec<ToolCall>, tools: &[ToolDefinition]) -> Result<Taken, Refused> {
    let written = calls.into_iter().map(|call| WrittenCall {
        id: String::new(),
        arguments: Value::Object(call.arguments).to_string(),
        tool: call.tool,
    });
    checked(written.collect(), tools)
}

/// One call that cannot be taken refuses the whole answer, so that nothing is done by halves.
fn checked(written: Vec<WrittenCall>, tools: &[ToolDefinition]) -> Result<Taken, Refused> {
    let mut repaired = false;
    let calls = written.iter().map(|one| {
        let made = checked_call(one.clone(), tools)?;
        repaired |= made.repaired;
        Ok(made.call)
    });
    match calls.collect::<crate::error::Result<Vec<_>>>() {
        Ok(calls) => Ok(Taken {
            action: Action::Call(calls),
            repaired,
        }),
        Err(error) => Err(Refused {
            reason: error.message().to_owned(),
            calls: as_written(written, tools),
        }),
    }
}

/// The calls without a look at the tools' schemas; `None` where the arguments of one are no object.
fn as_written(written: Vec<WrittenCall>, tools: &[ToolDefinition]) -> Option<Action> {
    let calls = written.into_iter().map(|call| {
        let arguments = match call.arguments.trim() {
            "" => "{}",
            arguments => arguments,
        };
        let arguments = serde_json::from_str(arguments).ok()?;
        let tool = tool_meant(&call.tool, tools).map(|tool| tool.name.clone());
        Some(ToolCall {
            tool: tool.unwrap_or(call.tool),
            arguments,
        })
    });
    calls.collect::<Option<_>>().map(Action::Call)
}
