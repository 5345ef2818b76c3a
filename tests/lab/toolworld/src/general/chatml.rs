//! The chat template of the bundled model, ChatML with tools in the form of Hermes and Qwen, and a
//! writer of the same text in Rust for the training text. The evaluation holds the two against each other in llama.cpp.

use journeyman::domain::{Message, Prompt, Span, Speaker, ToolDefinition};
use serde_json::{Map, Value};

use super::document::Document;

/// The end of a turn: the token that ends an answer.
pub const END: &str = "<|im_end|>";
/// The marks of the template that are control tokens.
pub const MARKS: [&str; 8] = [
    "<|im_start|>",
    END,
    "<tools>",
    "</tools>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
];

/// Keys of a schema in the order in which templates are given them; others follow.
const SCHEMA_KEYS: [&str; 6] = [
    "type",
    "description",
    "enum",
    "properties",
    "items",
    "required",
];
/// Greatest length of a text that stands for itself in a template, in bytes.
const PLAIN: usize = 256;

/// The opening of the model's own turn.
pub(crate) const OPEN: &str = "<|im_start|>assistant\n";

const BEFORE_TOOLS: &str = "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>";
const AFTER_TOOLS: &str = "\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>";

/// Writes a prompt as the template does, without the opening of the model's own turn. `learned` says of each message of
/// the assistant, in order, whether a model learns to write it; `compact` writes the tools without spaces, which other templates
/// do.
pub(crate) fn conversation(
    prompt: &Prompt,
    tools: &[ToolDefinition],
    learned: &[bool],
    compact: bool,
) -> Document {
    let mut document = Document::default();
    let mut rest = prompt.messages.as_slice();
    let mut system = None;
    if let Some((first, others)) = rest.split_first()
        && first.speaker == Speaker::System
    {
        rest = others;
        system = Some(first);
    }
    write_system(&mut document, system, tools, compact);
    let mut learned = learned.iter().copied();
    for message in rest {
        match message.speaker {
            Speaker::Assistant => {
                document.control(OPEN, false);
                write_answer(&mut document, message, learned.next().unwrap_or(false));
            }
            Speaker::Tool => {
                document.control("<|im_start|>user\n<tool_response>\n", false);
                write_spans(&mut document, message);
                document.control(format!("\n</tool_response>{END}\n"), false);
            }
            speaker => {
                let role = match speaker {
                    Speaker::System => "system",
                    _ => "user",
                };
                document.control(format!("<|im_start|>{role}\n"), false);
                write_spans(&mut document, message);
                document.control(format!("{END}\n"), false);
            }
        }
    }
    document
}

fn write_system(
    document: &mut Document,
    system: Option<&Message>,
    tools: &[ToolDefinition],
    compact: bool,
) {
    if system.is_none() && tools.is_empty() {
        return;
    }
    document.control("<|im_start|>system\n", false);
    if let Some(system) = system {
        write_spans(document, system);
    }
    if !tools.is_empty() {
        let gap = if system.is_some() { "\n\n" } else { "" };
        document.control(format!("{gap}{BEFORE_TOOLS}"), false);
        for tool in tools {
            document.control("\n", false);
            match compact {
                true => document.control(compact_line(tool), false),
                false => write_tool(document, tool),
            }
        }
        document.control(AFTER_TOOLS, false);
    }
    document.control(format!("{END}\n"), false);
}

/// A tool as the adapter for llama.cpp writes it for a template: a schema's keys in the usual order, its properties in the
/// order of `required`.
fn write_tool(document: &mut Document, tool: &ToolDefinition) {
    document.control(r#"{"type": "function", "function": {"name": ""#, false);
    write_text(document, &tool.name, false);
    document.control(r#"", "description": ""#, false);
    write_text(document, &tool.description, false);
    document.control(r#"", "parameters": "#, false);
    write_schema(document, &tool.input_schema);
    document.control("}}", false);
}

fn write_schema(document: &mut Document, schema: &Value) {
    let Value::Object(fields) = schema else {
        return write_json(document, schema, false);
    };
    let known = SCHEMA_KEYS
        .iter()
        .filter_map(|key| fields.get_key_value(*key));
    let others = fields
        .iter()
        .filter(|(key, _)| !SCHEMA_KEYS.contains(&key.as_str()));
    let required = fields.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut gap = "{";
    for (key, value) in known.chain(others) {
        document.control(format!("{gap}\""), false);
        gap = ", ";
        write_text(document, key, false);
        document.control("\": ", false);
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                write_properties(document, properties, &required);
            }
            ("items", value) => write_schema(document, value),
            (_, value) => write_json(document, value, false),
        }
    }
    document.control(if gap == "{" { "{}" } else { "}" }, false);
}

fn write_properties(document: &mut Document, fields: &Map<String, Value>, required: &[&str]) {
    let all = required
        .iter()
        .copied()
        .chain(fields.keys().map(String::as_str));
    let mut names: Vec<&str> = Vec::new();
    for name in all.filter(|name| fields.contains_key(*name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    document.control("{", false);
    for (at, name) in names.iter().enumerate() {
        document.control(if at == 0 { "\"" } else { ", \"" }, false);
        write_text(document, name, false);
        document.control("\": ", false);
        write_schema(document, fields.get(*name).unwrap_or(&Value::Null));
    }
    document.control("}", false);
}

/// JSON as Python writes it.
fn write_json(document: &mut Document, value: &Value, learned: bool) {
    match value {
        Value::String(text) => {
            document.control("\"", learned);
            write_text(document, text, learned);
            document.control("\"", learned);
        }
        Value::Array(items) => {
            document.control("[", learned);
            for (at, item) in items.iter().enumerate() {
                document.control(if at == 0 { "" } else { ", " }, learned);
                write_json(document, item, learned);
            }
            document.control("]", learned);
        }
        Value::Object(fields) => {
            document.control("{", learned);
            for (at, (key, value)) in fields.iter().enumerate() {
                document.control(if at == 0 { "\"" } else { ", \"" }, learned);
                write_text(document, key, learned);
                document.control("\": ", learned);
                write_json(document, value, learned);
            }
            document.control("}", learned);
        }
        other => document.control(other.to_string(), learned),
    }
}

/// A text within quotes: part of the template's where it can spell no control token, else data.
fn write_text(document: &mut Document, text: &str, learned: bool) {
    let signs = " _-.,:;/()'!?%+*=#@&";
    let plain = text.len() <= PLAIN
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || signs.contains(c));
    let quoted = Value::from(text).to_string();
    let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    match plain {
        true => document.control(escaped, learned),
        false => document.data(escaped, learned),
    }
}

fn compact_line(tool: &ToolDefinition) -> String {
    format!(
        "{{\"type\":\"function\",\"function\":{{\"name\":{},\"description\":{},\"parameters\":{}}}}}",
        Value::from(tool.name.as_str()),
        Value::from(tool.description.as_str()),
        tool.input_schema,
    )
}

/// An answer with its end: words, then each call.
pub(crate) fn write_answer(document: &mut Document, message: &Message, learned: bool) {
    let mut empty = true;
    for span in &message.content {
        empty &= span.text().is_empty();
        document.data(span.text(), learned);
    }
    for made in &message.calls {
        let gap = if empty { "" } else { "\n" };
        document.control(format!("{gap}<tool_call>\n{{\"name\": \""), learned);
        write_text(document, &made.call.tool, learned);
        document.control("\", \"arguments\": ", learned);
        write_json(document, &Value::from(made.call.arguments.clone()), learned);
        document.control("}\n</tool_call>", learned);
        empty = false;
    }
    document.control(END, learned);
    document.control("\n", false);
}

fn write_spans(document: &mut Document, message: &Message) {
    for span in &message.content {
        match span {
            Span::Data(text) => document.data(text.as_str(), false),
            Span::Control(text) => document.control(text.as_str(), false),
        }
    }
}
