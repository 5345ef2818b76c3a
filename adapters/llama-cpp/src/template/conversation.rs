//! The values that a template renders: messages, calls and tools.

use journeyman::domain::{Message, NativeCall, Speaker, ToolDefinition};
use minijinja::Value;
use serde_json::{Map, Value as Json};

use super::{
    json::dumped,
    leaves::{Leaves, Place},
};
use crate::convert::role;

/// Keys of a schema in the order in which models have seen them; others follow.
const SCHEMA_KEYS: [&str; 6] = [
    "type",
    "description",
    "enum",
    "properties",
    "items",
    "required",
];

/// JSON Schema's types. Templates look fields up by the keys above, and branch on these.
const SCHEMA_TYPES: [&str; 7] = [
    "string", "integer", "number", "boolean", "array", "object", "null",
];

/// What is rendered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversation<'a> {
    pub(crate) messages: &'a [Message],
    pub(crate) tools: &'a [ToolDefinition],
    /// The value of `enable_thinking`; undefined if none.
    pub(crate) thinking: Option<bool>,
}

/// The messages, with the arguments of calls as objects or as the text of one.
pub(super) fn messages(leaves: &mut Leaves<'_>, messages: &[Message], as_text: bool) -> Vec<Value> {
    let message = |message: &Message| {
        let place = match message.speaker {
            Speaker::System => Place::Anywhere,
            _ if !message.calls.is_empty() => Place::OrNowhere,
            _ => Place::InOrder,
        };
        let content = leaves.content(message.content.clone(), place);
        let mut fields = vec![
            ("role", Value::from(role(message.speaker))),
            ("content", Value::from(content)),
        ];
        if !message.calls.is_empty() {
            let calls = message.calls.iter().map(|made| call(leaves, made, as_text));
            fields.push(("tool_calls", calls.collect()));
        }
        if let Some(answered) = &message.answers {
            let name = leaves.text(&answered.tool, Place::Tool);
            let id = leaves.text(&answered.id, Place::Tool);
            fields.push(("name", Value::from(name)));
            fields.push(("tool_call_id", Value::from(id)));
        }
        Value::from_pairs(fields)
    };
    messages.iter().map(message).collect()
}

fn call(leaves: &mut Leaves<'_>, made: &NativeCall, as_text: bool) -> Value {
    let arguments = Json::Object(made.call.arguments.clone());
    let arguments = match as_text {
        true => Value::from(leaves.text(&dumped(&arguments), Place::Call)),
        false => value(leaves, &arguments, Place::Call),
    };
    let function = Value::from_pairs([
        (
            "name",
            Value::from(leaves.text(&made.call.tool, Place::Call)),
        ),
        ("arguments", arguments),
    ]);
    Value::from_pairs([
        ("id", Value::from(leaves.text(&made.id, Place::Tool))),
        ("type", Value::from("function")),
        ("function", function),
    ])
}

/// The tools, as OpenAI's interface has them; none without any.
pub(super) fn tools(leaves: &mut Leaves<'_>, tools: &[ToolDefinition]) -> Value {
    if tools.is_empty() {
        return Value::from(());
    }
    let tool = |tool: &ToolDefinition| {
        let parameters = match tool.input_schema.as_object() {
            Some(fields) if !fields.is_empty() => schema(leaves, &tool.input_schema),
            _ => Value::from_pairs([
                ("type", Value::from("object")),
                (
                    "properties",
                    value(leaves, &Json::Object(Map::new()), Place::Tool),
                ),
            ]),
        };
        let name = leaves.text(&tool.name, Place::Tool);
        let description = leaves.text(&tool.description, Place::Tool);
        let function = Value::from_pairs([
            ("name", Value::from(name)),
            ("description", Value::from(description)),
            ("parameters", parameters),
        ]);
        Value::from_pairs([("type", Value::from("function")), ("function", function)])
    };
    tools.iter().map(tool).collect()
}

/// A schema: its keys in the usual order, and its properties in the order of `required`.
fn schema(leaves: &mut Leaves<'_>, json: &Json) -> Value {
    let Json::Object(fields) = json else {
        return value(leaves, json, Place::Tool);
    };
    let known = SCHEMA_KEYS
        .iter()
        .filter_map(|key| fields.get_key_value(*key));
    let others = fields
        .iter()
        .filter(|(key, _)| !SCHEMA_KEYS.contains(&key.as_str()));
    let fields: Vec<(&String, &Json)> = known.chain(others).collect();
    let required = json.get("required").and_then(Json::as_array);
    let pairs = fields.into_iter().map(|(key, inner)| {
        let inner = match (key.as_str(), inner) {
            ("properties", Json::Object(inner)) => {
                let names = required.into_iter().flatten().filter_map(Json::as_str);
                properties(leaves, inner, names)
            }
            ("items", inner) => schema(leaves, inner),
            ("type", Json::String(kind)) if SCHEMA_TYPES.contains(&kind.as_str()) => {
                Value::from(kind.as_str())
            }
            _ => value(leaves, inner, Place::Tool),
        };
        let key = match SCHEMA_KEYS.contains(&key.as_str()) {
            true => key.clone(),
            false => leaves.text(key, Place::Tool),
        };
        (key, inner)
    });
    Value::from_pairs(pairs.collect::<Vec<_>>())
}

fn properties<'a>(
    leaves: &mut Leaves<'_>,
    fields: &'a Map<String, Json>,
    required: impl Iterator<Item = &'a str>,
) -> Value {
    let mut names: Vec<&str> = Vec::new();
    let all = required.chain(fields.keys().map(String::as_str));
    for name in all.filter(|name| fields.contains_key(*name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let pairs = names.into_iter().map(|name| {
        let inner = schema(leaves, &fields[name]);
        (leaves.text(name, Place::Tool), inner)
    });
    Value::from_pairs(pairs.collect::<Vec<_>>())
}

/// A JSON value with its texts as leaves.
fn value(leaves: &mut Leaves<'_>, json: &Json, place: Place) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(is) => Value::from(*is),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::from(whole),
            (_, Some(whole)) => Value::from(whole),
            _ => Value::from(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Value::from(leaves.text(text, place)),
        Json::Array(items) => items
            .iter()
            .map(|item| value(leaves, item, place))
            .collect(),
        Json::Object(fields) => {
            let pairs = fields
                .iter()
                .map(|(key, inner)| (leaves.text(key, place), value(leaves, inner, place)));
            Value::from_pairs(pairs.collect::<Vec<_>>())
        }
    }
}
