//! Extracts JSON values from a model's answer.

use std::fmt;

use serde_json::{Map, Value};

use super::{
    lenient::{self, Fault, MAX_BYTES, MAX_DEPTH, begins, may_open},
    thinking::outside_thinking,
};

/// The greatest number of bytes that all attempts at one answer may read, which bounds the time for any answer.
const MAX_WORK: usize = 8 * MAX_BYTES;
/// The greatest number of values that are read of one answer.
const MAX_FOUND: usize = 64;
/// Marks around calls in the templates of common models.
const MARKS: [&str; 9] = [
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "```json",
    "```",
    ",",
    ";",
    "<|eom_id|>",
];

/// Why an answer has no usable JSON object, or no array where the caller accepts arrays. The message never repeats the
/// answer.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoObject {
    /// No brace opens an object.
    Absent,
    /// An object is opened and not closed: the answer was probably cut.
    Unfinished,
    /// Braces match, but the text between them is not JSON.
    Malformed {
        /// Line within the object, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// An object has a key twice, with different values.
    Repeated {
        /// Line of the second key within the object, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// The object is nested deeper than 32.
    TooDeep,
    /// The answer is longer than 1 MiB.
    TooLong,
    /// The reasoning is not closed, and its text is not a single object at the very end.
    InReasoning,
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
            Self::Repeated { line, column } => {
                write!(
                    f,
                    "the JSON object has a key twice with different values, again at line {line} column {column}"
                )
            }
            Self::TooDeep => f.write_str("the JSON object is nested deeper than 32"),
            Self::TooLong => f.write_str("the answer is longer than 1 MiB"),
            Self::InReasoning => f.write_str(
                "the reasoning is not closed, and several objects stand in it, or text behind the object",
            ),
        }
    }
}

impl std::error::Error for NoObject {}

/// The first JSON object in an answer. Prose, Markdown fences and reasoning blocks around it are skipped (ARISE D.1,
/// stage 1). An empty object counts only when there is no other, and no part is taken out of an object that is not valid.
/// The time is bounded for any text.
///
/// Strict JSON is read as it is. Other spellings are read where their meaning is unambiguous: comments, an extra comma, keys
/// without quotes, other quotes, line breaks in strings, Python's `True`, `False` and `None`. Objects within reasoning that
/// is not closed are ignored, except for a single one at the very end.
///
/// # Errors
/// [`NoObject`], for the first brace that could have opened an object.
///
/// ```
/// use journeyman::text::first_object;
///
/// let answer = "<think>Maybe {\"done\": true}?</think>Sure, for the set {x}:\n```json\n{\"tool\": \"brew\"}\n```";
/// assert_eq!(first_object(answer).unwrap()["tool"], "brew");
/// assert_eq!(first_object("{tool: 'brew', hot: True,}").unwrap()["tool"], "brew");
/// ```
pub fn first_object(text: &str) -> Result<Map<String, Value>, NoObject> {
    match first_whole(text, &['{'])? {
        Value::Object(object) => Ok(object),
        _ => Err(NoObject::Absent),
    }
}

/// The first JSON value in an answer that begins with one of these brackets; text around it is skipped. A value within a
/// value of the other kind, or within one that is not closed, not valid or too deep, is not taken, since a part of an
/// answer is not the answer. Brackets of prose, such as `[0, 1)`, are skipped.
pub(crate) fn first_whole(text: &str, wanted: &[char]) -> Result<Value, NoObject> {
    let wanted = |value: &Value| match value {
        Value::Object(_) => wanted.contains(&'{'),
        _ => wanted.contains(&'['),
    };
    let mut first = None;
    let found = candidates(text, wanted)?;
    for candidate in found.list {
        match candidate.value {
            Ok(value) => return Ok(value),
            Err(fault) => first = first.or(Some(fault)),
        }
    }
    Err(first.unwrap_or(NoObject::Absent))
}

/// A JSON value in an answer, or the fault of a text that was certainly meant as one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate<'a> {
    /// The text between the previous candidate and this one.
    pub(crate) before: &'a str,
    /// Whether there is a block of reasoning between the previous candidate and this one.
    pub(crate) apart: bool,
    /// The value.
    pub(crate) value: Result<Value, NoObject>,
}

impl Candidate<'_> {
    /// Whether there are only marks and blanks between the previous candidate and this one, so that both belong together.
    pub(crate) fn follows(&self) -> bool {
        let mut text = self.before.to_owned();
        for mark in MARKS {
            text = text.replace(mark, " ");
        }
        !self.apart && text.trim().is_empty()
    }
}

/// The JSON values of an answer, and the text after the last one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidates<'a> {
    /// In order; none within another one. Never empty.
    pub(crate) list: Vec<Candidate<'a>>,
    /// The text after the last one.
    pub(crate) rest: &'a str,
}

/// The outermost JSON values of an answer that `wanted` accepts, at most 64, outside of reasoning blocks. The text after
/// a value that is not closed or too deep is not read. An empty object or array counts only when there is no other value.
///
/// # Errors
/// [`NoObject`] where there is no such value.
pub(crate) fn candidates(
    text: &str,
    wanted: impl Fn(&Value) -> bool,
) -> Result<Candidates<'_>, NoObject> {
    if text.len() > MAX_BYTES {
        return Err(NoObject::TooLong);
    }
    let mut search = Search {
        wanted: &wanted,
        work: MAX_WORK,
        found: Vec::new(),
        rest: "",
        empty: None,
        doubtful: None,
        ended: false,
    };
    let parts = outside_thinking(text);
    for part in &parts.outside {
        if !search.ended {
            search.within(part);
        }
    }
    if search.found.is_empty()
        && search.empty.is_none()
        && let Some(open) = parts.open
    {
        return search.in_open_reasoning(open);
    }
    search.result()
}

struct Search<'a, 'w> {
    wanted: &'w dyn Fn(&Value) -> bool,
    work: usize,
    found: Vec<Candidate<'a>>,
    rest: &'a str,
    /// The first empty value, and the text after it.
    empty: Option<(Candidate<'a>, &'a str)>,
    /// The fault of the first text that may be JSON or prose.
    doubtful: Option<NoObject>,
    ended: bool,
}

/// The reading of the text at one bracket.
enum Opened {
    Value(Value, usize),
    /// Certainly meant as JSON, and not valid; its length in bytes where its brackets match.
    Fault(NoObject, Option<usize>),
    /// Perhaps JSON, perhaps prose in brackets.
    Doubtful(NoObject, usize),
    Prose,
}

impl<'a> Search<'a, '_> {
    fn within(&mut self, text: &'a str) {
        let (mut from, mut behind) = (0, 0);
        let mut apart = !self.found.is_empty();
        while let Some(offset) = text.get(from..).and_then(|rest| rest.find(['{', '['])) {
            let start = from + offset;
            from = start + 1;
            if !may_open(&text[start..]) {
                continue;
            }
            let candidate = |value| Candidate {
                before: &text[behind..start],
                apart,
                value,
            };
            match self.open(&text[start..]) {
                Opened::Value(value, length) => {
                    from = start + length;
                    if is_empty(&value) {
                        if (self.wanted)(&value) && self.empty.is_none() {
                            self.empty = Some((candidate(Ok(value)), &text[from..]));
                        }
                    } else if (self.wanted)(&value) {
                        self.found.push(candidate(Ok(value)));
                        (behind, apart) = (from, false);
                    }
                }
                Opened::Fault(fault, length) => {
                    self.found.push(candidate(Err(fault)));
                    from = length.map_or(text.len(), |length| start + length);
                    (behind, apart) = (from, false);
                    self.ended |= length.is_none();
                }
                Opened::Doubtful(fault, length) => {
                    self.doubtful.get_or_insert(fault);
                    from = start + length;
                }
                Opened::Prose => {}
            }
            if self.work == 0 || self.ended || self.found.len() >= MAX_FOUND {
                self.ended = true;
                break;
            }
        }
        self.rest = &text[behind..];
    }

    fn open(&mut self, text: &str) -> Opened {
        let text = &text[..text.floor_char_boundary(self.work)];
        let (length, end) = scan(text);
        let reading = lenient::read(text, MAX_DEPTH);
        let place = |at: usize| {
            let before = &text.as_bytes()[..at];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
            (line, column)
        };
        let read = match &reading.value {
            Ok((_, end)) => *end,
            Err(Fault::Malformed(at) | Fault::Repeated(at)) => *at,
            Err(_) => text.len(),
        };
        self.work = self.work.saturating_sub(length.max(read));
        let closed = end.is_ok().then_some(length);
        // Valid JSON is always read strictly.
        let strict = closed.and_then(|length| serde_json::from_str::<Value>(&text[..length]).ok());
        let fault = match (strict, reading.value) {
            (_, Err(Fault::Repeated(at))) => {
                let (line, column) = place(at);
                NoObject::Repeated { line, column }
            }
            (Some(value), _) => return Opened::Value(value, length),
            (None, Ok((value, length))) => {
                return match reading.began || is_empty(&value) {
                    true => Opened::Value(value, length),
                    false => Opened::Prose,
                };
            }
            (None, Err(Fault::TooDeep)) => NoObject::TooDeep,
            (None, Err(Fault::Unfinished)) => NoObject::Unfinished,
            (None, Err(Fault::Malformed(at))) => {
                let (line, column) = place(at);
                NoObject::Malformed { line, column }
            }
        };
        let quoted = begins(text).is_none_or(lenient::is_quote);
        match fault {
            NoObject::TooDeep => Opened::Fault(fault, None),
            NoObject::Unfinished if reading.began || quoted => Opened::Fault(fault, None),
            _ if reading.began => Opened::Fault(fault, closed),
            _ => match (quoted && text.starts_with('{'), closed) {
                (true, Some(length)) => Opened::Doubtful(fault, length),
                (true, None) => Opened::Fault(fault, None),
                _ => Opened::Prose,
            },
        }
    }

    /// The object within reasoning that is not closed, where it is the only one and at the very end.
    fn in_open_reasoning(mut self, text: &'a str) -> Result<Candidates<'a>, NoObject> {
        self.within(text);
        let behind = self.rest.trim().trim_matches('`').trim();
        match self.found.as_slice() {
            [] => Err(NoObject::Absent),
            [Candidate { value: Ok(_), .. }] if behind.is_empty() => self.result(),
            [
                Candidate {
                    value: Err(fault), ..
                },
            ] => Err(fault.clone()),
            _ => Err(NoObject::InReasoning),
        }
    }

    fn result(mut self) -> Result<Candidates<'a>, NoObject> {
        if let (true, Some((empty, rest))) = (self.found.is_empty(), self.empty) {
            self.found.push(empty);
            self.rest = rest;
        }
        match (self.found.is_empty(), self.doubtful) {
            (false, _) => Ok(Candidates {
                list: self.found,
                rest: self.rest,
            }),
            (true, Some(fault)) => Err(fault),
            (true, None) => Err(NoObject::Absent),
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.is_empty(),
        Value::Array(array) => array.is_empty(),
        _ => false,
    }
}

/// The length in bytes of the object or array at the beginning of `text`, by its brackets, and why it does not end.
fn scan(text: &str) -> (usize, Result<(), NoObject>) {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (index, byte) in text.bytes().enumerate() {
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
    (text.len(), Err(NoObject::Unfinished))
}

#[cfg(test)]
mod tests;
