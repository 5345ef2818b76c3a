//! The corpus of a prompt format's answers.

use serde_json::{Value, json};

use super::{AnswerCase, AnswerTo, Meaning};
use crate::domain::{Action, ToolCall, ToolDefinition};

/// The tools in force in all cases.
pub(super) fn tools() -> Vec<ToolDefinition> {
    let tool = |name: &str, properties: Value, required: &[&str]| ToolDefinition {
        name: name.to_owned(),
        description: format!("The tool {name}."),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
    };
    vec![
        tool("unseal", json!({"tin": {"type": "string"}}), &["tin"]),
        tool(
            "brew",
            json!({"power": {"type": "integer"}, "hot": {"type": "boolean"}}),
            &[],
        ),
        tool(
            "get_ticket",
            json!({"customer": {"type": "string"}, "number": {"type": "integer"}}),
            &["customer", "number"],
        ),
        tool(
            "send_message",
            json!({"to": {"type": "string"}, "message": {"type": "string"}}),
            &["to", "message"],
        ),
    ]
}

pub(super) fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
    }
}

pub(super) fn calls<const N: usize>(calls: [(&str, Value); N]) -> Meaning {
    let calls = calls.map(|(tool, arguments)| call(tool, arguments));
    Meaning::Action(Action::Call(calls.to_vec()))
}

pub(super) fn unseal() -> Meaning {
    calls([("unseal", json!({"tin": "T1"}))])
}

pub(super) fn message(text: &str) -> Meaning {
    Meaning::Action(Action::Message(text.to_owned()))
}

pub(super) fn case(name: &'static str, text: &str, meaning: Meaning) -> AnswerCase {
    AnswerCase {
        name,
        to: AnswerTo::Turn(tools()),
        text: text.to_owned(),
        meaning,
    }
}

pub(super) fn cases() -> Vec<AnswerCase> {
    [
        json_cases(),
        form_cases(),
        several_cases(),
        line_cases(),
        refused_cases(),
        unclear_cases(),
    ]
    .concat()
}

fn json_cases() -> Vec<AnswerCase> {
    vec![
        case(
            "turn: as asked",
            r#"{"tool": "unseal", "arguments": {"tin": "T1"}}"#,
            unseal(),
        ),
        case(
            "turn: trailing commas",
            "{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\",},}",
            unseal(),
        ),
        case(
            "turn: Python's literals and quotes",
            "{'tool': 'brew', 'arguments': {'power': 65, 'hot': True}, 'message': None}",
            calls([("brew", json!({"power": 65, "hot": true}))]),
        ),
        case(
            "turn: smart quotes",
            "{“tool”: “unseal”, “arguments”: {“tin”: “T1”}}",
            unseal(),
        ),
        case(
            "turn: keys without quotes",
            "{tool: \"unseal\", arguments: {tin: \"T1\"}}",
            unseal(),
        ),
        case(
            "turn: comments",
            "{\n  // open it first\n  \"tool\": \"unseal\", # the tool\n  \"arguments\": {\"tin\": \"T1\"} /* done */\n}",
            unseal(),
        ),
        case(
            "turn: a line break in a message",
            "{\"message\": \"First line.\nSecond: see http://x.example/a#b\"}",
            message("First line.\nSecond: see http://x.example/a#b"),
        ),
        case(
            "turn: an apostrophe in single quotes",
            "{'message': 'It's open, Ada'}",
            message("It's open, Ada"),
        ),
        case(
            "turn: a byte order mark and zero-width spaces",
            "\u{FEFF}{\u{200B}\"tool\":\u{200B} \"unseal\", \"arguments\": {\"tin\": \"T1\"}}",
            unseal(),
        ),
        case(
            "turn: a fence and prose",
            "Sure, I will open it:\n```json\n{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}\n```\nLet me know!",
            unseal(),
        ),
        case(
            "turn: reasoning that is not closed",
            "<think>The tin {T1} is sealed.\n{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}",
            unseal(),
        ),
        case(
            "turn: done in Python",
            "{'done': True}",
            Meaning::Action(Action::EndTurn),
        ),
    ]
}

fn form_cases() -> Vec<AnswerCase> {
    vec![
        case(
            "turn: arguments beside the tool",
            r#"{"tool": "get_ticket", "customer": "Ada", "number": 4, "thought": "look"}"#,
            calls([("get_ticket", json!({"customer": "Ada", "number": 4}))]),
        ),
        case(
            "turn: a comment beside a call",
            r#"{"tool": "unseal", "arguments": {"tin": "T1"}, "message": "I'll look", "done": false}"#,
            unseal(),
        ),
        case(
            "turn: a message that is an argument",
            r#"{"tool": "send_message", "to": "Ada", "message": "hi"}"#,
            calls([("send_message", json!({"to": "Ada", "message": "hi"}))]),
        ),
        case(
            "turn: tool_calls",
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "unseal", "arguments": "{\"tin\": \"T1\"}"}}, {"id": "c2", "type": "function", "function": {"name": "brew", "arguments": {"power": 65}}}]}"#,
            calls([
                ("unseal", json!({"tin": "T1"})),
                ("brew", json!({"power": 65})),
            ]),
        ),
        case(
            "turn: function_call",
            r#"{"function_call": {"name": "unseal", "arguments": "{\"tin\": \"T1\"}"}}"#,
            unseal(),
        ),
        case(
            "turn: function with an object",
            r#"{"type": "function", "function": {"name": "unseal", "parameters": {"tin": "T1"}}}"#,
            unseal(),
        ),
        case(
            "turn: type function beside a name",
            r#"{"type": "function", "name": "unseal", "parameters": {"tin": "T1"}}"#,
            unseal(),
        ),
        case(
            "turn: action and action_input",
            r#"{"action": "unseal", "action_input": {"tin": "T1"}}"#,
            unseal(),
        ),
        case(
            "turn: action_input in words",
            r#"{"action": "unseal", "action_input": "T1"}"#,
            unseal(),
        ),
        case(
            "turn: final answer as an action",
            r#"{"action": "Final Answer", "action_input": "It is open."}"#,
            message("It is open."),
        ),
    ]
}

fn several_cases() -> Vec<AnswerCase> {
    vec![
        case(
            "turn: an array of calls",
            r#"[{"tool": "unseal", "arguments": {"tin": "T1"}}, {"tool": "brew"}]"#,
            calls([("unseal", json!({"tin": "T1"})), ("brew", json!({}))]),
        ),
        case(
            "turn: calls on lines",
            "{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}\n{\"tool\": \"brew\"}",
            calls([("unseal", json!({"tin": "T1"})), ("brew", json!({}))]),
        ),
        case(
            "turn: the same call again",
            "{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}\nSo, as I said:\n{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}",
            unseal(),
        ),
        case(
            "turn: Hermes",
            "<tool_call>\n{\"name\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"brew\", \"arguments\": {}}\n</tool_call>",
            calls([("unseal", json!({"tin": "T1"})), ("brew", json!({}))]),
        ),
        case(
            "turn: Mistral",
            "[TOOL_CALLS] [{\"name\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}]",
            unseal(),
        ),
        case(
            "turn: Llama",
            "<|python_tag|>{\"name\": \"unseal\", \"parameters\": {\"tin\": \"T1\"}}",
            unseal(),
        ),
        case(
            "turn: the tool's name in another spelling",
            r#"{"tool": "Get-Ticket", "arguments": {"customer": "Ada", "number": 4}}"#,
            calls([("get_ticket", json!({"customer": "Ada", "number": 4}))]),
        ),
        case(
            "turn: a tool that is not there",
            r#"{"tool": "unlock", "arguments": {"tin": "T1"}}"#,
            calls([("unlock", json!({"tin": "T1"}))]),
        ),
    ]
}

fn line_cases() -> Vec<AnswerCase> {
    vec![
        case(
            "turn: ReAct",
            "Thought: The tin is sealed.\nAction: unseal\nAction Input: {\"tin\": \"T1\"}\nObservation: It is open.\nThought: Now brew.\nAction: brew\nAction Input: {}",
            unseal(),
        ),
        case(
            "turn: ReAct with plain input",
            "Thought: sealed\nAction: unseal\nAction Input: T1",
            unseal(),
        ),
        case(
            "turn: ReAct as a call of JSON",
            "Action: unseal({\"tin\": \"T1\"})",
            unseal(),
        ),
        case(
            "turn: ReAct with brackets",
            "Action: unseal[tin=T1]",
            unseal(),
        ),
        case(
            "turn: ReAct without input",
            "Thought: brew\nAction: brew",
            calls([("brew", json!({}))]),
        ),
        case(
            "turn: ReAct ends",
            "Thought: That was all.\nAction: finish",
            Meaning::Action(Action::EndTurn),
        ),
        case(
            "turn: ReAct's final answer",
            "Thought: I know.\nFinal Answer: The tin is open.",
            message("The tin is open."),
        ),
        case(
            "turn: a made-up observation behind JSON",
            "{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}\nObservation: open\n{\"tool\": \"brew\"}",
            unseal(),
        ),
        case(
            "turn: ReAct announces JSON",
            "Action:\n```json\n{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}\n```",
            unseal(),
        ),
    ]
}

fn refused_cases() -> Vec<AnswerCase> {
    let refused = Meaning::Refused;
    vec![
        case("turn: nothing", "", refused("no JSON object")),
        case(
            "turn: prose",
            "I will open the tin.",
            refused("no JSON object"),
        ),
        case(
            "turn: cut off",
            r#"{"tool": "unseal", "arguments": {"tin": "T"#,
            refused("not closed"),
        ),
        case(
            "turn: cut off behind an inner call",
            r#"{"tool": "unseal", "arguments": {"tool": "brew"}"#,
            refused("not closed"),
        ),
        case(
            "turn: quotes within a string",
            r#"{"message": "He said "hi" to me"}"#,
            refused("line 1 column 23"),
        ),
        case(
            "turn: a key twice",
            r#"{"tool": "unseal", "arguments": {"tin": "T1", "tin": "T2"}}"#,
            refused("twice with different values, again at line 1 column 47"),
        ),
        case(
            "turn: two actions in prose",
            "{\"tool\": \"unseal\", \"arguments\": {\"tin\": \"T1\"}}\nOr: {\"tool\": \"brew\"}",
            refused("2 different actions"),
        ),
    ]
}

fn unclear_cases() -> Vec<AnswerCase> {
    let refused = Meaning::Refused;
    vec![
        case(
            "turn: a call and the end",
            r#"{"tool": "unseal", "arguments": {"tin": "T1"}, "done": true}"#,
            refused("more than one of"),
        ),
        case(
            "turn: a message and the end",
            r#"{"message": "It is open.", "done": true}"#,
            refused("more than one of"),
        ),
        case(
            "turn: arguments in two places",
            r#"{"tool": "get_ticket", "arguments": {"number": 4}, "customer": "Ada"}"#,
            refused("has `arguments` and beside it `customer`"),
        ),
        case(
            "turn: several objects in reasoning",
            "<think>Maybe {\"done\": true}, no: {\"tool\": \"brew\"}",
            refused("the reasoning is not closed"),
        ),
        case(
            "turn: plain input for two arguments",
            "Action: get_ticket\nAction Input: Ada 4",
            refused("`Action Input:`"),
        ),
        case(
            "turn: two tools",
            r#"{"tool": "unseal", "function": "brew", "arguments": {"tin": "T1"}}"#,
            refused("two tools"),
        ),
        case(
            "turn: two action lines",
            "Action: unseal\nAction Input: T1\nAction: brew",
            refused("more than one `Action:`"),
        ),
        case(
            "turn: ReAct, an input on the line and none behind it",
            "Action: unseal(tin=T1)\nAction Input: None",
            unseal(),
        ),
        case(
            "turn: ReAct, an input on the line and one behind it",
            "Action: unseal(tin=T1)\nAction Input: T2",
            refused("has an input, and so has `Action Input:`"),
        ),
        case(
            "turn: arguments as an array",
            r#"{"tool": "unseal", "arguments": ["T1"]}"#,
            refused("`arguments` is not a JSON object"),
        ),
    ]
}
