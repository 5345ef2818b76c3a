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
/// [`first_object`]: nothing is looked for within a value of the other kind, or within one that is not closed, not valid
/// or too deep, since a part of an answer is no answer. Brackets of prose, such as `[0, 1)`, are passed over.
pub(crate) fn first_whole(text: &str, wanted: &[char]) -> Result<Value, NoObject> {
    find(text, wanted, false)
}

fn find(text: &str, wanted: &[char], parts_too: bool) -> Result<Value, NoObject> {
    if text.len() > MAX_BYTES {
        return Err(NoObject::TooLong);
    }
    let mut search = Search {
        wanted,
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

/// An answer without its reasoning blocks; of one that is longer than 1 MiB, no more than the first 1 MiB is looked at.
///
/// ```
/// use journeyman::text::without_thinking;
///
/// assert_eq!(without_thinking("<think>hm</think>\nyes"), "\nyes");
/// ```
pub fn without_thinking(text: &str) -> String {
    outside_thinking(&text[..text.floor_char_boundary(MAX_BYTES)]).concat()
}

struct Search<'a> {
    /// The brackets that the value may begin with.
    wanted: &'a [char],
    /// Whether to look within what cannot be read.
    parts_too: bool,
    work: usize,
    empty: Option<Value>,
    first_fault: Option<NoObject>,
}

impl Search<'_> {
    fn within(&mut self, text: &str) -> Option<Value> {
        let brackets = match self.parts_too {
            true => self.wanted,
            false => &['{', '['],
        };
        let mut from = 0;
        while let Some(offset) = text.get(from..).and_then(|rest| rest.find(brackets)) {
            let start = from + offset;
            from = start + 1;
            let candidate = &text[start..];
            let wanted = candidate.starts_with(self.wanted);
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
                Ok(_) if !wanted => from = start + length,
                Err(_) if !wanted && !surely_opens(candidate) => {}
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

/// Whether what begins with a bracket is JSON beyond doubt, if only a part of it. Prose has intervals and footnotes.
fn surely_opens(text: &str) -> bool {
    text.starts_with('{') || text[1..].trim_start().starts_with(['{', '"'])
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
    // One pass over all that may be a mark, whatever an answer has of them.
    let (mut from, mut closes) = (0, None);
    while let Some(at) = rest[from..].find('<').map(|offset| from + offset) {
        let here = &rest[at..];
        from = at + 1;
        match closes {
            None => {
                let opened = THINKING.iter().find(|(open, _)| here.starts_with(open));
                if let Some((open, close)) = opened {
                    parts.push(&rest[..at]);
                    from = at + open.len();
                    closes = Some(*close);
                }
            }
            Some(close) if here.starts_with(close) => {
                rest = &here[close.len()..];
                (from, closes) = (0, None);
            }
            Some(_) => {}
        }
    }
    if closes.is_none() {
        parts.push(rest);
    }
    parts
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
mod tests;
