//! Places within a schema: walking them, and where references lead.

use serde_json::{Map, Value};

/// What stands below a keyword.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Below {
    Schema,
    /// Schemas by name.
    Named,
    List,
    /// No schema.
    Plain,
}

pub(super) fn below(keyword: &str, value: &Value) -> Below {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Below::Named
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Below::List,
        "items" if value.is_array() => Below::List,
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "propertyNames"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => Below::Schema,
        _ => Below::Plain,
    }
}

/// Whether `$schema` names a version of the standard.
pub(super) fn is_known(named: &Value) -> bool {
    const VERSIONS: [&str; 5] = [
        "draft-04/schema",
        "draft-06/schema",
        "draft-07/schema",
        "draft/2019-09/schema",
        "draft/2020-12/schema",
    ];
    let named = named.as_str().unwrap_or_default();
    let place = ["http://", "https://"]
        .iter()
        .find_map(|scheme| named.strip_prefix(scheme)?.strip_prefix("json-schema.org/"));
    place.is_some_and(|place| VERSIONS.contains(&place.trim_end_matches('#')))
}

/// Whether a reference leads to a place within the schema.
pub(super) fn leads_somewhere(schema: &Value, written: &str) -> bool {
    let Some(place) = written.strip_prefix('#') else {
        return false;
    };
    if place.is_empty() || place.starts_with('/') {
        return schema.pointer(&decoded(place)).is_some();
    }
    let mut is_there = false;
    each(schema, &mut Vec::new(), &mut |_, fields| {
        let named = |key: &str| fields.get(key).and_then(Value::as_str);
        is_there |= named("$anchor") == Some(place)
            || named("$dynamicAnchor") == Some(place)
            || named("$id") == Some(written)
            || named("id") == Some(written);
    });
    is_there
}

/// A fragment of an address as it reads.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut read = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(one) => {
                read.push(one);
                at += 3;
            }
            None => {
                read.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// Shows every schema within a schema, itself included, with its path. The nesting is bounded by that of JSON texts.
pub(super) fn each(
    node: &Value,
    path: &mut Vec<String>,
    see: &mut impl FnMut(&[String], &Map<String, Value>),
) {
    let Value::Object(fields) = node else {
        return;
    };
    see(path, fields);
    for (keyword, value) in fields {
        path.push(keyword.clone());
        match (below(keyword, value), value) {
            (Below::Schema, value) => each(value, path, see),
            (Below::Named, Value::Object(named)) => {
                for (name, one) in named {
                    path.push(name.clone());
                    each(one, path, see);
                    path.pop();
                }
            }
            (Below::List, Value::Array(items)) => {
                for (at, one) in items.iter().enumerate() {
                    path.push(at.to_string());
                    each(one, path, see);
                    path.pop();
                }
            }
            _ => {}
        }
        path.pop();
    }
}

/// As [`each`], to change them.
pub(super) fn each_mut(node: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(fields) = node else {
        return;
    };
    change(fields);
    for (keyword, value) in fields {
        match (below(keyword, value), value) {
            (Below::Schema, value) => each_mut(value, change),
            (Below::Named, Value::Object(named)) => {
                named.values_mut().for_each(|one| each_mut(one, change));
            }
            (Below::List, Value::Array(items)) => {
                items.iter_mut().for_each(|one| each_mut(one, change));
            }
            _ => {}
        }
    }
}

pub(super) fn child<'a>(node: &'a Value, token: &str) -> Option<&'a Value> {
    match node {
        Value::Object(fields) => fields.get(token),
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        _ => None,
    }
}

pub(super) fn child_mut<'a>(node: &'a mut Value, token: &str) -> Option<&'a mut Value> {
    match node {
        Value::Object(fields) => fields.get_mut(token),
        Value::Array(items) => items.get_mut(token.parse::<usize>().ok()?),
        _ => None,
    }
}

pub(super) fn tokens(pointer: &str) -> Vec<String> {
    let parts = pointer.split('/').skip(1);
    parts
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect()
}

pub(super) fn pointer(tokens: &[String]) -> String {
    let parts = tokens
        .iter()
        .map(|token| format!("/{}", token.replace('~', "~0").replace('/', "~1")));
    parts.collect()
}
