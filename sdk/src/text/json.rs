//! JSON out of a model's answer.

use std::fmt;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// The greatest answer that is looked at, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// How many bytes all tries together may look at: a bound on the time that any answer can take.
const MAX_WORK: usize = 8 * MAX_BYTES;
/// The greatest depth of an object (security requirement S12).
const MAX_DEPTH: usize = 32;
/// The marks that reasoning models put around their thinking.
const THINKING: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
];

/// Why an answer has no JSON object, or no array where that is looked for too. It never repeats the answer.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoObject {
    /// No brace opens an object.
    Absent,
    /// An object is opened and not closed: the answer was probably cut.
    Unfinished,
    /// Braces match, but what stands between them is not JSON.
    Malformed {
        /// Within the object, from 1.
        line: usize,
        /// In bytes, from 1.
        column: usize,
    },
    /// The object is nested deeper than 32.
    TooDeep,
    /// The answer is longer than 1 MiB.
    TooLong,
}

impl fmt::Display for NoObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("the answer has no JSON object"),
            Self::Unfinished => f.write_str("the JSON object is not closed"),
            Self::Malformed { line, column } => {
                write!(
                    f,
                    "the JSON object is not valid at line {line} column {column}"
                )
            }
            Self::TooDeep => f.write_str("the JSON object is nested deeper than 32"),
            Self::TooLong => f.write_str("the answer is longer than 1 MiB"),
        }
    }
}

impl std::error::Error for NoObject {}

/// The first JSON object in an answer, whatever prose, Markdown fences or reasoning blocks stand around it (ARISE D.1,
/// stage 1). An empty object counts only when there is no other. Takes bounded time for any text.
///
/// # Errors
/// [`NoObject`], of the first brace that could have opened an object.
///
/// ```
/// use journeyman::text::first_object;
///
/// let answer = "<think>Maybe {\"done\": true}?</think>Sure, for the set {x}:\n```json\n{\"tool\": \"brew\"}\n```";
/// assert_eq!(first_object(answer).unwrap()["tool"], "brew");
/// ```
pub fn first_object(text: &str) -> Result<Map<String, Value>, NoObject> {
    match find(text, &['{'], true)? {
        Value::Object(object) => Ok(object),
        _ => Err(NoObject::Absent),
    }
}

/// The first JSON value in an answer that begins with one of these brackets, whatever stands around it. Stricter than
/// [`first_object`]: nothing is looked for within a value that is not closed, not valid or too deep, since a part of
/// an answer is no answer.
pub(crate) fn first_whole(text: &str, brackets: &[char]) -> Result<Value, NoObject> {
    find(text, brackets, false)
}

fn find(text: &str, brackets: &[char], parts_too: bool) -> Result<Value, NoObject> {
    if text.len() > MAX_BYTES {
        return Err(NoObject::TooLong);
    }
    let mut search = Search {
        brackets,
        parts_too,
        work: MAX_WORK,
        empty: None,
        first_fault: None,
    };
    for part in outside_thinking(text) {
        if let Some(value) = search.within(part) {
            return Ok(value);
        }
        if !parts_too && search.ended() {
            break;
        }
    }
    match (search.empty, search.first_fault) {
        (Some(empty), _) => Ok(empty),
        (None, Some(fault)) => Err(fault),
        (None, None) => Err(NoObject::Absent),
    }
}

/// An answer without its reasoning blocks.
///
/// ```
/// use journeyman::text::without_thinking;
///
/// assert_eq!(without_thinking("<think>hm</think>\nyes"), "\nyes");
/// ```
pub fn without_thinking(text: &str) -> String {
    outside_thinking(text).concat()
}

struct Search<'a> {
    brackets: &'a [char],
    /// Whether to look within what cannot be read.
    parts_too: bool,
    work: usize,
    empty: Option<Value>,
    first_fault: Option<NoObject>,
}

impl Search<'_> {
    fn within(&mut self, text: &str) -> Option<Value> {
        let mut from = 0;
        while let Some(offset) = text.get(from..).and_then(|rest| rest.find(self.brackets)) {
            let start = from + offset;
            from = start + 1;
            let candidate = &text[start..];
            if !may_open(candidate) {
                continue;
            }
            let (length, end) = scan(candidate, self.work);
            self.work = self.work.saturating_sub(length);
            let parsed = end.and_then(|()| {
                serde_json::from_str::<Value>(&candidate[..length]).map_err(|error| {
                    NoObject::Malformed {
                        line: error.line(),
                        column: error.column(),
                    }
                })
            });
            match parsed {
                Ok(value) if is_empty(&value) => {
                    self.empty.get_or_insert(value);
                }
                Ok(value) => return Some(value),
                Err(fault) => {
                    self.first_fault.get_or_insert(fault);
                    if !self.parts_too {
                        from = start + length;
                    }
                }
            }
            if self.work == 0 || (!self.parts_too && self.ended()) {
                break;
            }
        }
        None
    }

    /// Whether what was found cannot be passed over: nobody knows where it ends.
    fn ended(&self) -> bool {
        matches!(
            self.first_fault,
            Some(NoObject::Unfinished | NoObject::TooDeep)
        )
    }
}

/// Whether a text that begins with a bracket may begin with JSON. What cannot, such as the set {x}, costs nothing.
fn may_open(text: &str) -> bool {
    let mut bytes = text.bytes();
    let object = bytes.next() == Some(b'{');
    match text[1..].trim_start().bytes().next() {
        None | Some(b'"') => true,
        Some(b'}') => object,
        Some(next) => !object && b"{[]-tfn0123456789".contains(&next),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.is_empty(),
        Value::Array(array) => array.is_empty(),
        _ => false,
    }
}

/// How many bytes the object or array at the beginning of `text` has, by its brackets, or why it does not end.
fn scan(text: &str, work: usize) -> (usize, Result<(), NoObject>) {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (index, byte) in text.bytes().enumerate().take(work) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return (index + 1, Err(NoObject::TooDeep));
                }
            }
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return (index + 1, Ok(()));
                }
            }
            _ => {}
        }
    }
    (text.len().min(work), Err(NoObject::Unfinished))
}

/// The parts of an answer that are not reasoning. A block that is never closed reaches to the end; one that is closed
/// without being opened began in the prompt.
fn outside_thinking(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (value, mut rest) = text.split_at(leading(text));
    if !value.is_empty() {
        parts.push(value);
    } else if let Some(end) = unopened(text) {
        rest = &text[end..];
    }
    loop {
        let opened = THINKING
            .iter()
            .filter_map(|(open, close)| Some((rest.find(open)?, open, close)))
            .min_by_key(|(at, ..)| *at);
        let Some((at, open, close)) = opened else {
            parts.push(rest);
            return parts;
        };
        parts.push(&rest[..at]);
        let block = &rest[at + open.len()..];
        match block.find(close) {
            Some(end) => rest = &block[end + close.len()..],
            None => return parts,
        }
    }
}

/// Where the JSON value ends that an answer begins with, in a fence or not: marks within it are content. 0 for none.
fn leading(text: &str) -> usize {
    let mut body = text.trim_start();
    if let Some(fence) = body.strip_prefix("```") {
        body = fence.trim_start_matches(char::is_alphanumeric).trim_start();
    }
    if !body.starts_with(['{', '[']) || !may_open(body) {
        return 0;
    }
    let (length, end) = scan(body, body.len());
    match end.is_ok() && serde_json::from_str::<IgnoredAny>(&body[..length]).is_ok() {
        true => text.len() - body.len() + length,
        false => 0,
    }
}

/// Where an answer begins whose first mark closes a block that it did not open.
fn unopened(text: &str) -> Option<usize> {
    THINKING
        .iter()
        .filter_map(|(open, close)| {
            let end = text.find(close)?;
            // Within an object, such as a message about HTML, it is content.
            let within = text[..end].trim_start().starts_with('{');
            let opened = text.find(open).is_some_and(|start| start < end);
            (!within && !opened).then_some(end + close.len())
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn check(text: &str, expect: Result<&str, NoObject>) {
        let found = first_object(text).map(|object| Value::from(object).to_string());
        assert_eq!(found.as_deref(), expect.as_ref().map(|text| *text));
    }

    #[test]
    fn objects_are_found_in_prose() {
        check(r#"{"a":1}"#, Ok(r#"{"a":1}"#));
        check(
            "Sure!\n```json\n{\"a\": {\"b\": [1, 2]}}\n```\nDone {\"c\":2}",
            Ok(r#"{"a":{"b":[1,2]}}"#),
        );
        check(
            r#"with \frac{1}{2} and {} and {x}: {"a":"}{\"" } tail"#,
            Ok(r#"{"a":"}{\""}"#),
        );
        check("{}", Ok("{}"));
        check(r#"{"a":1,} then {"b":2}"#, Ok(r#"{"b":2}"#));
        check(r#"{"broken": {"a":1}"#, Ok(r#"{"a":1}"#));
    }

    #[test]
    fn reasoning_is_passed_over() {
        check(r#"<think>{"a":1}</think>{"b":2}"#, Ok(r#"{"b":2}"#));
        check(r#"{"a":1} was wrong</think>{"b":2}"#, Ok(r#"{"a":1}"#));
        check(r#"so {"a":1} was wrong</think>{"b":2}"#, Ok(r#"{"b":2}"#));
        check(r#"<think>{"a":1}"#, Err(NoObject::Absent));
        check(
            r#"<thinking>x</thinking>ok<think>{"a":1}</think> {"b":2}"#,
            Ok(r#"{"b":2}"#),
        );
        check(
            r#"{"message":"write </think> at the end"}"#,
            Ok(r#"{"message":"write </think> at the end"}"#),
        );
    }

    #[test]
    fn what_is_wrong_is_told() {
        check("", Err(NoObject::Absent));
        check("no braces, {x}, [1]", Err(NoObject::Absent));
        check(r#"{"a": "b"#, Err(NoObject::Unfinished));
        check(
            "{\"a\": 1,\n}",
            Err(NoObject::Malformed { line: 2, column: 1 }),
        );
        check(
            &format!("{{\"a\":{}1{}}}", "[".repeat(40), "]".repeat(40)),
            Err(NoObject::TooDeep),
        );
        check(&"x".repeat(MAX_BYTES + 1), Err(NoObject::TooLong));
    }

    #[test]
    fn marks_within_the_value_that_an_answer_begins_with_are_content() {
        check(r#"{"a":"<think>"}"#, Ok(r#"{"a":"<think>"}"#));
        check(
            "```json\n{\"a\":\"</think><think>\"}\n```",
            Ok(r#"{"a":"</think><think>"}"#),
        );
        check(r#"{}<think>{"a":1}</think>{"b":2}"#, Ok(r#"{"b":2}"#));
        assert_eq!(
            without_thinking(r#"{"a":"<think>"}<think>x</think>!"#),
            r#"{"a":"<think>"}!"#
        );
    }

    #[test]
    fn a_part_of_a_value_is_none() {
        let check = |text: &str, brackets: &[char], expect: Result<&str, NoObject>| {
            let found = first_whole(text, brackets).map(|value| value.to_string());
            assert_eq!(found.as_deref(), expect.as_ref().map(|text| *text));
        };
        let both = &['{', '['][..];
        check("two: [[1], {}] and {}", both, Ok("[[1],{}]"));
        check("see [a] and {\"a\":[]}", both, Ok(r#"{"a":[]}"#));
        check(r#"[1] {"a":1}"#, &['{'], Ok(r#"{"a":1}"#));
        check("[] then", both, Ok("[]"));
        check(r#"{"a":{"b":1}"#, both, Err(NoObject::Unfinished));
        check(
            r#"{"a": {"b":1}, c}"#,
            both,
            Err(NoObject::Malformed {
                line: 1,
                column: 16,
            }),
        );
        check(r#"{"a":{"b":1},} {"c":2}"#, both, Ok(r#"{"c":2}"#));
        let deep = |open: &str, close: &str, n: usize| open.repeat(n) + "1" + &close.repeat(n);
        check(&deep("[", "]", 100_000), both, Err(NoObject::TooDeep));
        check(&deep("{\"a\":", "}", 33), both, Err(NoObject::TooDeep));
        assert!(first_whole(&deep("[", "]", 32), both).is_ok());
    }

    #[test]
    fn garbage_is_bounded_and_never_panics() {
        for text in [
            "{".repeat(10 << 20),
            "{\"".repeat(1 << 19),
            "{\"a\":[".repeat(1 << 17),
            "{\"a\":\"{\",".repeat(1 << 16),
            "<think>".repeat(1 << 17),
            format!("{{\"a\":\"{}", "é{\"".repeat(1 << 17)),
        ] {
            assert!(first_object(&text).is_err());
            assert!(first_whole(&text, &['{', '[']).is_err());
        }
        let bits = [
            "{", "}", "\"", "\\", "[", "]", ":", ",", "<think>", "</think>", "é", "1", "\n",
            "{\"a\":", "```",
        ];
        for round in 0..5000 {
            let seed = Seed(3).derive("garbage", round);
            let text: String = (0..30)
                .filter_map(|i| seed.derive("bit", i).index(bits.len()).map(|i| bits[i]))
                .collect();
            let _ = (first_object(&text), first_whole(&text, &['{', '[']));
        }
    }
}
