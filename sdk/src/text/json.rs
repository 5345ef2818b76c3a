//! A JSON object out of a model's answer.

use std::fmt;

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

/// Why an answer has no JSON object. It never repeats the answer.
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
    if text.len() > MAX_BYTES {
        return Err(NoObject::TooLong);
    }
    let mut search = Search {
        work: MAX_WORK,
        empty: None,
        first_fault: None,
    };
    for part in outside_thinking(text) {
        if let Some(object) = search.within(part) {
            return Ok(object);
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

struct Search {
    work: usize,
    empty: Option<Map<String, Value>>,
    first_fault: Option<NoObject>,
}

impl Search {
    fn within(&mut self, text: &str) -> Option<Map<String, Value>> {
        let mut from = 0;
        while let Some(offset) = text.get(from..).and_then(|rest| rest.find('{')) {
            let start = from + offset;
            from = start + 1;
            let candidate = &text[start..];
            // What cannot be an object, such as the set {x}, costs nothing.
            let next = candidate[1..].trim_start().bytes().next();
            if !matches!(next, Some(b'"' | b'}') | None) {
                continue;
            }
            let (length, end) = scan(candidate, self.work);
            self.work = self.work.saturating_sub(length);
            let parsed = end.and_then(|()| {
                serde_json::from_str::<Map<String, Value>>(&candidate[..length]).map_err(|error| {
                    NoObject::Malformed {
                        line: error.line(),
                        column: error.column(),
                    }
                })
            });
            match parsed {
                Ok(object) if object.is_empty() => {
                    self.empty.get_or_insert(object);
                }
                Ok(object) => return Some(object),
                Err(fault) => {
                    self.first_fault.get_or_insert(fault);
                }
            }
            if self.work == 0 {
                break;
            }
        }
        None
    }
}

/// How many bytes the object at the beginning of `text` has, by its braces, or why it does not end.
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
    let mut rest = text;
    if let Some(end) = unopened(text) {
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
            let _ = first_object(&text);
        }
    }
}
