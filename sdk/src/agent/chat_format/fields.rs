//! The fields of an answer's object, and the names that each kind of field may have.

use serde_json::{Map, Value};

/// A JSON object.
pub(super) type Object = Map<String, Value>;
/// A part of an answer that was read, or the reason of a refusal, which names the place and repeats no value.
pub(super) type Read<T> = Result<T, String>;

/// The fields that name the tool, the surest first.
pub(super) const TOOL: [&str; 5] = ["tool", "tool_name", "function", "action", "name"];
/// The fields that hold the arguments.
pub(super) const ARGUMENTS: [&str; 7] = [
    "arguments",
    "parameters",
    "params",
    "args",
    "input",
    "tool_input",
    "action_input",
];
/// The fields in which a model comments on its action.
pub(super) const COMMENTARY: [&str; 6] = [
    "message",
    "done",
    "thought",
    "thoughts",
    "reasoning",
    "explanation",
];

/// A field's name in lower case with underscores.
pub(super) fn plain(key: &str) -> String {
    key.trim().to_lowercase().replace([' ', '-'], "_")
}

/// The fields of an object without nulls: the plain name, the name as written, and the value.
pub(super) struct Fields<'a>(pub(super) Vec<(String, &'a str, &'a Value)>);

impl<'a> Fields<'a> {
    pub(super) fn of(object: &'a Object) -> Read<Self> {
        let mut fields: Vec<(String, &str, &Value)> = Vec::new();
        for (key, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let name = plain(key);
            let known = TOOL.contains(&name.as_str())
                || ARGUMENTS.contains(&name.as_str())
                || COMMENTARY.contains(&name.as_str());
            if known
                && fields
                    .iter()
                    .any(|(other, _, before)| *other == name && *before != value)
            {
                return Err(format!("the object has `{name}` in two spellings"));
            }
            fields.push((name, key, value));
        }
        Ok(Self(fields))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        let found = self.0.iter().find(|(field, _, _)| field == name);
        found.map(|(_, _, value)| *value)
    }
}

/// The name of the first field that may hold the arguments.
pub(super) fn argument_field(fields: &Fields<'_>) -> Option<&'static str> {
    ARGUMENTS.into_iter().find(|key| fields.get(key).is_some())
}
