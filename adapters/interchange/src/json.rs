//! Reads JSON from other systems within limits of size, depth, field names and entries.

use journeyman::{Error, Result, domain::find_hidden};
use serde_json::{Map, Value};

/// The greatest length of a text, in bytes.
const MAX_BYTES: usize = 10 * 1024 * 1024;
/// The greatest depth of lists and objects.
const MAX_DEPTH: usize = 32;
/// The longest name of a field in bytes. Longer ones cannot be keys of a SKILL.md's metadata.
const MAX_KEY: usize = 256;
/// The greatest number of entries.
const MAX_ENTRIES: usize = 10_000;

/// The fields of one entry.
pub(super) type Entry = Map<String, Value>;

/// Reads a text.
///
/// # Errors
/// `Invalid` for a text that is not JSON, exceeds a limit, or has a hidden character or an integer of more than 64 bits.
/// The error never repeats the text (S11).
pub(super) fn read(operation: &'static str, text: &str) -> Result<Value> {
    if text.len() > MAX_BYTES {
        return Err(Error::invalid(operation, "the text is larger than 10 MiB")
            .with("bytes", text.len())
            .hint("split it"));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        Error::invalid(operation, "the text is not JSON, or is nested too deep")
            .with("line", error.line())
            .with("column", error.column())
    })?;
    if has_huge_integer(text) {
        let message = "a number is too large to be kept as it is";
        return Err(Error::invalid(operation, message).hint("write it as text"));
    }
    sound(operation, &value, 1)?;
    Ok(value)
}

/// Checks depth, field names and hidden characters. The parser's own limit on depth bounds the recursion.
fn sound(operation: &'static str, value: &Value, depth: usize) -> Result<()> {
    let visible = |text: &str| match find_hidden(text) {
        None => Ok(()),
        Some(hidden) => Err(Error::invalid(operation, format!("a text holds {hidden}"))
            .hint("remove it: a person who reviews the skill cannot see it")),
    };
    let nested = matches!(value, Value::Array(_) | Value::Object(_));
    if nested && depth > MAX_DEPTH {
        return Err(Error::invalid(
            operation,
            format!("the JSON is nested deeper than {MAX_DEPTH}"),
        ));
    }
    match value {
        Value::String(text) => visible(text),
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| sound(operation, item, depth + 1)),
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            visible(key)?;
            if key.len() > MAX_KEY {
                return Err(Error::invalid(
                    operation,
                    format!("the name of a field has more than {MAX_KEY} bytes"),
                )
                .with("bytes", key.len()));
            }
            sound(operation, value, depth + 1)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Whether a JSON text has an integer of more than 64 bits, which the parser would round to a float.
fn has_huge_integer(text: &str) -> bool {
    // Every second piece is within quotes; an escaped quote is not one.
    let plain = text.replace("\\\\", "").replace("\\\"", "");
    let is_huge = |word: &str| {
        let digits = word.strip_prefix('-').unwrap_or(word);
        let is_integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        is_integer && word.parse::<u64>().is_err() && word.parse::<i64>().is_err()
    };
    let outside = plain.split('"').step_by(2);
    let mut words =
        outside.flat_map(|text| text.split([',', ':', '[', ']', '{', '}', ' ', '\n', '\r', '\t']));
    words.any(is_huge)
}

/// Takes the entries out of the list at a place.
pub(super) fn take_entries(
    operation: &'static str,
    place: &str,
    list: &mut Value,
) -> Result<Vec<Entry>> {
    let Value::Array(items) = list else {
        return Err(shape(operation, place, "a list"));
    };
    if items.len() > MAX_ENTRIES {
        return Err(Error::invalid(
            operation,
            format!("a list has more than {MAX_ENTRIES} entries"),
        )
        .with("place", place)
        .hint("split it"));
    }
    (0..)
        .zip(std::mem::take(items))
        .map(|(index, item)| match item {
            Value::Object(entry) => Ok(entry),
            _ => Err(shape(operation, &format!("{place}/{index}"), "an object")),
        })
        .collect()
}

pub(super) fn shape(operation: &'static str, place: &str, wanted: &str) -> Error {
    Error::invalid(operation, format!("this is not {wanted}")).with("place", place)
}
