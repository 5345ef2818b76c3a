//! Arguments of tool calls held against the tools' schemas: values in another type than a schema wants are converted where nothing
//! is lost.

use serde_json::{Map, Value, json};

use crate::{domain::ToolDefinition, error::Result, text::JsonSchema};

/// The greatest number of values that are converted.
const MOST: usize = 16;

/// The schema of a tool's arguments. A tool without arguments has none on many servers.
pub(super) fn schema_of(tool: &ToolDefinition) -> Result<JsonSchema> {
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

/// The arguments of a call as the tool's schema wants them, or what is wrong with them. The words repeat no argument.
pub(super) fn obeying(
    schema: &JsonSchema,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let value = Value::Object(arguments.clone());
    match coerced(schema, &value) {
        Some(Value::Object(taken)) => Ok(taken),
        _ => {
            let fault = schema.faults(&value).into_iter().next();
            let fault = fault.map_or(String::new(), |fault| format!(": {fault}"));
            Err(format!(
                "the arguments of `{tool}` do not obey its schema{fault}"
            ))
        }
    }
}

/// A value as a schema wants it: itself, or with values converted where nothing is lost. `None` where it does not obey the schema
/// all the same.
///
/// Converted are a number or a truth value in a text, the text of an object or an array, a whole number with a fraction of zero, a
/// number or a truth value where only a text fits, and null for a field that need not be there. Nothing is cut, rounded or guessed.
fn coerced(schema: &JsonSchema, value: &Value) -> Option<Value> {
    let mut value = value.clone();
    whole_numbers(schema.as_value(), schema.as_value(), &mut value);
    for _ in 0..=MOST {
        let faults = schema.faults(&value);
        let Some(fault) = faults.iter().find(|fault| !fault.at.is_empty()) else {
            return faults.is_empty().then_some(value);
        };
        value = one(schema, &value, &fault.at)?;
    }
    None
}

/// The value with what stands at a place converted, if there is one way that removes the fault.
fn one(schema: &JsonSchema, value: &Value, at: &str) -> Option<Value> {
    let found = value.pointer(at)?;
    let mut changed: Vec<Value> = forms(found)
        .into_iter()
        .filter_map(|form| with(value, at, form))
        // Within a text that was an object there may be more to convert.
        .filter(|changed| schema.faults(changed).iter().all(|fault| fault.at != at))
        .collect();
    let first = changed.pop()?;
    changed.is_empty().then_some(first)
}

/// The forms that a value has without loss; `None` is no value at all.
fn forms(value: &Value) -> Vec<Option<Value>> {
    match value {
        Value::Null => vec![None],
        Value::Number(number) => vec![Some(Value::from(number.to_string()))],
        Value::Bool(is) => vec![Some(Value::from(is.to_string()))],
        Value::String(text) => {
            let text = text.trim();
            let truth = match text {
                "True" => Some(Value::Bool(true)),
                "False" => Some(Value::Bool(false)),
                _ => None,
            };
            // A text in quotes within the text stays one.
            let parsed = serde_json::from_str::<Value>(text).ok();
            let parsed = parsed.filter(|value| !value.is_string() && !value.is_null());
            truth.or(parsed).map(Some).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The whole value with another one at a place, or without one.
fn with(value: &Value, at: &str, form: Option<Value>) -> Option<Value> {
    let mut changed = value.clone();
    match form {
        Some(form) => *changed.pointer_mut(at)? = form,
        None => {
            let (parent, key) = at.rsplit_once('/')?;
            let key = key.replace("~1", "/").replace("~0", "~");
            changed.pointer_mut(parent)?.as_object_mut()?.remove(&key)?;
        }
    }
    Some(changed)
}

/// Writes whole numbers such as `8.0` without a fraction where the schema wants an integer: JSON Schema takes both for one, but
/// programs do not.
fn whole_numbers(root: &Value, schema: &Value, value: &mut Value) {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(place) => {
            let place = place.strip_prefix('#');
            match place.and_then(|place| root.pointer(place)) {
                // A reference to a reference may lead round in a circle.
                Some(found) if found.get("$ref").is_none() => found,
                _ => return,
            }
        }
        None => schema,
    };
    match value {
        Value::Number(number) => {
            let is_integer = schema.get("type").is_some_and(|kind| kind == "integer");
            let whole = number.as_f64().filter(|number| number.fract() == 0.0);
            // Above 2^53 neighbors of a whole number have no form of their own.
            let whole = whole.filter(|whole| whole.abs() <= 9_007_199_254_740_992.0);
            if let Some(whole) = whole.filter(|_| is_integer && number.is_f64()) {
                *value = Value::from(whole as i64);
            }
        }
        Value::Object(fields) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (key, field) in fields {
                if let Some(of_field) = properties.and_then(|all: &Map<_, _>| all.get(key)) {
                    whole_numbers(root, of_field, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(of_items) = schema.get("items") {
                for item in items {
                    whole_numbers(root, of_items, item);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> JsonSchema {
        JsonSchema::new(json!({
            "type": "object",
            "properties": {
                "level": {"type": "integer", "maximum": 9},
                "share": {"type": "number"},
                "name": {"type": "string"},
                "on": {"type": "boolean"},
                "note": {"type": "string"},
                "where": {"type": "object", "properties": {"x": {"type": "integer"}}},
                "all": {"type": "array", "items": {"$ref": "#/$defs/count"}},
                "either": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
                "kind": {"enum": ["a", "b"]},
            },
            "required": ["level"],
            "$defs": {"count": {"type": "integer"}},
        }))
        .unwrap()
    }

    fn check(value: Value, expect: Option<Value>) {
        // 8 and 8.0 are two numbers here.
        assert_eq!(coerced(&schema(), &value), expect, "{value}");
    }

    #[test]
    fn values_are_converted_where_nothing_is_lost() {
        check(json!({"level": 8}), Some(json!({"level": 8})));
        check(json!({"level": "8"}), Some(json!({"level": 8})));
        check(json!({"level": " -8 "}), Some(json!({"level": -8})));
        check(json!({"level": 8.0}), Some(json!({"level": 8})));
        check(
            json!({"level": 1, "share": "0.5", "on": "true", "name": 12}),
            Some(json!({"level": 1, "share": 0.5, "on": true, "name": "12"})),
        );
        check(
            json!({"level": 1, "on": "False"}),
            Some(json!({"level": 1, "on": false})),
        );
        check(json!({"level": 1, "note": null}), Some(json!({"level": 1})));
        check(
            json!({"level": 1, "where": "{\"x\": \"2\"}"}),
            Some(json!({"level": 1, "where": {"x": 2}})),
        );
        check(
            json!({"level": 1, "all": ["1", 2.0, 3]}),
            Some(json!({"level": 1, "all": [1, 2, 3]})),
        );
        check(
            json!({"level": 1, "either": "7"}),
            Some(json!({"level": 1, "either": 7})),
        );
        // A number stays a number, also where a text is a number too.
        check(
            json!({"level": 1, "share": 2.0}),
            Some(json!({"level": 1, "share": 2.0})),
        );
    }

    #[test]
    fn what_would_lose_something_is_not_converted() {
        for value in [
            json!({}),
            json!({"level": 8.5}),
            json!({"level": "8.5"}),
            json!({"level": "eight"}),
            json!({"level": "8 or 9"}),
            json!({"level": true}),
            json!({"level": null}),
            json!({"level": [8]}),
            json!({"level": "99"}),
            json!({"level": 1, "on": 1}),
            json!({"level": 1, "on": "yes"}),
            json!({"level": 1, "kind": "A"}),
            json!({"level": 1, "name": ["a"]}),
        ] {
            check(value, None);
        }
    }

    #[test]
    fn many_faults_and_circles_end() {
        let mut all = Map::new();
        all.insert("all".to_owned(), json!(vec!["1"; 200]));
        assert_eq!(coerced(&schema(), &Value::Object(all)), None);
        let circle = JsonSchema::new(json!({
            "type": "object",
            "properties": {"next": {"$ref": "#"}, "level": {"type": "integer"}},
        }));
        let deep = json!({"next": {"next": {"level": "3"}}});
        let found = coerced(&circle.unwrap(), &deep).unwrap();
        assert_eq!(found, json!({"next": {"next": {"level": 3}}}));
    }
}
