//! Validates JSON values by a host's JSON Schema.

use std::{fmt, sync::Arc};

use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::error::{Error, Result};

const NEW: &str = "JsonSchema::new";
/// The greatest length of a schema, in bytes of JSON.
pub(super) const MAX_BYTES: usize = 64 * 1024;
/// The greatest depth of a schema (security requirement S12).
pub(super) const MAX_DEPTH: usize = 32;
/// The greatest memory that one pattern may take when it is compiled, in bytes.
const MAX_PATTERN: usize = 1 << 20;
/// The greatest number of faults that are reported.
const MAX_FAULTS: usize = 8;
/// For a value with more parts only the first fault is reported, since there could be as many faults as parts.
const MAX_PARTS: usize = 10_000;
/// The greatest length of a fault's path and message, in characters.
const MAX_CHARS: usize = 200;

/// A JSON Schema (2020-12 where its `$schema` says nothing else) of an object or an array, compiled once.
///
/// The schema comes from the host, never from a model's text. `$ref` leads only to places within the schema: no file and
/// no socket is opened (S12). Patterns run on an engine in linear time, so look-around and back-references are refused.
/// `format` is not checked: the standard makes it an annotation, and `format: regex` would compile a model's text. The host
/// is responsible for the cost of its schema: alternatives that refer to alternatives multiply.
///
/// Only with the feature `json-schema`.
///
/// ```
/// use journeyman::text::JsonSchema;
/// use serde_json::json;
///
/// let schema = JsonSchema::new(json!({
///     "type": "object",
///     "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
///     "required": ["steps"],
/// }))?;
/// assert!(schema.faults(&json!({"steps": ["brew"]})).is_empty());
/// let faults = schema.faults(&json!({"steps": ["brew", 2]}));
/// assert_eq!(faults[0].to_string(), r#"at /steps/1: it is not of type "string""#);
///
/// let error = JsonSchema::new(json!({"type": "object", "required": "steps"})).unwrap_err();
/// assert_eq!(error.fact("at"), Some("/required"));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone)]
pub struct JsonSchema {
    value: Arc<Value>,
    validator: Arc<Validator>,
}

/// A rule of a schema that a value breaks. The fault repeats nothing of the value except the field names of the path.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// The place in the value: a JSON pointer, empty for the whole value.
    pub at: String,
    /// The fault in words.
    pub message: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => write!(f, "the whole: {}", self.message),
            at => write!(f, "at {at}: {}", self.message),
        }
    }
}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonSchema").field(&self.value).finish()
    }
}

impl JsonSchema {
    /// Compiles a schema of at most 64 KiB and a depth of 32.
    ///
    /// # Errors
    /// `Invalid`, with the place in the schema under `at`.
    pub fn new(value: Value) -> Result<Self> {
        match compiled(&value) {
            Ok(validator) => Ok(Self {
                value: Arc::new(value),
                validator: Arc::new(validator),
            }),
            Err(flaw) => Err(refused(&flaw.at, &flaw.message)),
        }
    }

    /// The schema.
    pub fn as_value(&self) -> &Value {
        &self.value
    }

    /// The faults of a value, at most eight; empty for a valid value.
    pub fn faults(&self, value: &Value) -> Vec<SchemaFault> {
        let fault = |error: ValidationError<'_>| SchemaFault {
            at: clipped(error.instance_path().as_str()),
            message: told(&error),
        };
        if parts(value) > MAX_PARTS {
            let first = self.validator.validate(value).err();
            return first.into_iter().map(fault).collect();
        }
        let mut faults: Vec<SchemaFault> = self.validator.iter_errors(value).map(fault).collect();
        faults.sort_by(|a, b| (&a.at, &a.message).cmp(&(&b.at, &b.message)));
        faults.dedup();
        faults.truncate(MAX_FAULTS);
        faults
    }

    /// The brackets that a value of this schema may begin with.
    pub(crate) fn brackets(&self) -> Vec<char> {
        let kinds = [("object", '{'), ("array", '[')];
        let fit = kinds
            .into_iter()
            .filter(|(kind, _)| may_be(&self.value, kind));
        fit.map(|(_, bracket)| bracket).collect()
    }
}

/// What makes a schema unusable.
pub(super) struct Flaw {
    /// The whole JSON pointer to it; empty where no place is known.
    pub(super) at: String,
    pub(super) message: String,
}

/// The validator of a schema, or its first flaw.
pub(super) fn compiled(value: &Value) -> std::result::Result<Validator, Flaw> {
    let flaw = |at: &str, message: &str| Flaw {
        at: at.to_owned(),
        message: message.to_owned(),
    };
    // Checked before any recursive function sees the schema.
    if is_deeper(value, MAX_DEPTH) {
        return Err(flaw("", "it is nested deeper than 32"));
    }
    if value.to_string().len() > MAX_BYTES {
        return Err(flaw("", "it is longer than 64 KiB"));
    }
    if !may_be(value, "object") && !may_be(value, "array") {
        return Err(flaw("/type", "neither an object nor an array fits it"));
    }
    let patterns = PatternOptions::regex()
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN);
    jsonschema::options()
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(patterns)
        .build(value)
        .map_err(|error| flaw(error.instance_path().as_str(), &told(&error)))
}

fn refused(at: &str, message: &str) -> Error {
    Error::invalid(NEW, format!("the schema cannot be used: {message}"))
        .with("at", clipped(at))
        .hint("put right what stands at this place; `$ref` leads only to places within the schema, and patterns have no look-around")
}

/// Whether a value of this kind may be valid, by the schema's `type` alone.
fn may_be(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        None => schema != &Value::Bool(false),
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        Some(one) => one == kind || !one.is_string(),
    }
}

/// The message of a fault, without the value.
fn told(error: &ValidationError<'_>) -> String {
    let text = match error.kind() {
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "it has fields that are not allowed".to_owned()
        }
        Kind::AdditionalItems { .. } | Kind::UnevaluatedItems { .. } => {
            "it has items that are not allowed".to_owned()
        }
        Kind::PropertyNames { .. } => "the name of a field is not allowed".to_owned(),
        _ => error.masked_with("it").to_string(),
    };
    clipped(&text)
}

/// A text of bounded length, on one line and without terminal escapes.
pub(super) fn clipped(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    super::plain_terminal(&plain.take(MAX_CHARS).collect::<String>()).into_owned()
}

/// Whether a value is nested deeper than `most`, without recursion.
pub(super) fn is_deeper(value: &Value, most: usize) -> bool {
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        let nested = matches!(value, Value::Array(_) | Value::Object(_));
        if nested && depth > most {
            return true;
        }
        open.extend(children(value).map(|child| (child, depth + 1)));
    }
    false
}

/// The number of values that a value consists of, itself included.
fn parts(value: &Value) -> usize {
    let mut open = vec![value];
    let mut count = 0;
    while let Some(value) = open.pop() {
        count += 1;
        open.extend(children(value));
    }
    count
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Where and why a schema is refused.
    fn check(schema: Value, at: &str, why: &str) {
        let error = JsonSchema::new(schema).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Invalid, "{error}");
        assert_eq!(error.fact("at"), Some(at), "{error}");
        assert!(error.message().contains(why), "{error}");
    }

    #[test]
    fn a_flawed_schema_is_refused_with_the_place() {
        check(json!(3), "", "");
        check(json!({"type": "number"}), "/type", "neither");
        check(json!(false), "/type", "neither");
        check(json!({"type": "objekt"}), "/type", "neither");
        check(
            json!({"properties": {"a": {"type": 3}}}),
            "/properties/a/type",
            "it is not",
        );
        check(
            json!({"properties": {"a": {"minLength": -1}}}),
            "/properties/a/minLength",
            "",
        );
        check(
            json!({"properties": {"a": {"pattern": "(?=x)y"}}}),
            "/properties/a/pattern",
            "",
        );
        check(
            json!({"properties": {"a": {"pattern": "(((x{99}){99}){99}){99}"}}}),
            "/properties/a/pattern",
            "",
        );
        check(json!({"description": "x".repeat(70_000)}), "", "64 KiB");
        let mut deep = json!({});
        for _ in 0..40 {
            deep = json!({"not": deep});
        }
        check(deep, "", "deeper than 32");
    }

    #[test]
    fn a_reference_opens_no_file_and_no_socket() {
        for outside in [
            "https://example.invalid/schema.json",
            "file:///etc/hostname",
            "other.json",
        ] {
            check(json!({"properties": {"a": {"$ref": outside}}}), "", "");
            check(json!({"$schema": outside}), "", "");
        }
    }

    #[test]
    fn references_in_circles_and_chains_end() {
        let value = json!({"a": [{"a": []}, 1]});
        for circle in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}}),
            json!({"properties": {"a": {"$ref": "#"}}, "items": {"$ref": "#"}}),
            json!({"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}),
        ] {
            if let Ok(schema) = JsonSchema::new(circle) {
                let _ = schema.faults(&value);
            }
        }
        let links = 1_200;
        let mut chain: serde_json::Map<String, Value> = (0..links)
            .map(|i| {
                let next = format!("#/$defs/{}", i + 1);
                (i.to_string(), json!({"$ref": next}))
            })
            .collect();
        chain.insert(links.to_string(), json!({"type": "array"}));
        let schema = JsonSchema::new(json!({"$ref": "#/$defs/0", "$defs": chain})).unwrap();
        assert_eq!(schema.faults(&value).len(), 1);
    }

    #[test]
    fn what_a_value_breaks_is_told_without_the_value() {
        let schema = JsonSchema::new(json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 3, "pattern": "^[a-z]+$"},
                "kind": {"enum": ["tool", "skill"]},
                "when": {"type": "string", "format": "regex"},
            },
            "required": ["name"],
            "additionalProperties": false,
        }))
        .unwrap();
        let told = |value: Value| {
            let faults = schema.faults(&value);
            faults
                .iter()
                .map(SchemaFault::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            told(json!({"kind": "sesame", "hidden": 1})),
            [
                "the whole: \"name\" is a required property",
                "the whole: it has fields that are not allowed",
                "at /kind: it is not one of \"tool\" or \"skill\"",
            ]
        );
        assert_eq!(
            told(json!({"name": "SESAME", "when": "((((("})),
            [
                "at /name: it does not match \"^[a-z]+$\"",
                "at /name: it is longer than 3 characters",
            ]
        );
        assert!(told(json!({"name": "abc"})).is_empty());
    }

    #[test]
    fn the_number_and_the_length_of_faults_are_bounded() {
        let schema = JsonSchema::new(json!({
            "additionalProperties": {"type": "string"},
            "items": {"type": "string"},
        }))
        .unwrap();
        let some = schema.faults(&json!(vec![1; 100]));
        assert_eq!(some.len(), MAX_FAULTS);
        let many = schema.faults(&json!(vec![1; MAX_PARTS]));
        assert_eq!(many.len(), 1);
        let long = schema.faults(&json!({format!("a\u{1B}[31m\n{}", "x".repeat(5_000)): 1}));
        assert!(long[0].at.chars().count() <= MAX_CHARS);
        assert!(!long[0].at.contains(['\u{1B}', '\n']));
    }
}
