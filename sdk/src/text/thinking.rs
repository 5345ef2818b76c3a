//! Finds and removes the reasoning blocks of a model's answer.

use super::lenient::{self, MAX_BYTES, MAX_DEPTH, may_open};

/// The marks that reasoning models put around their thinking.
const THINKING: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
];

/// An answer without its reasoning blocks. Of an answer longer than 1 MiB only the first 1 MiB is read.
///
/// ```
/// use journeyman::text::without_thinking;
///
/// assert_eq!(without_thinking("<think>hm</think>\nyes"), "\nyes");
/// ```
pub fn without_thinking(text: &str) -> String {
    outside_thinking(&text[..text.floor_char_boundary(MAX_BYTES)])
        .outside
        .concat()
}

/// An answer, split at its reasoning blocks.
pub(super) struct Parts<'a> {
    /// The texts outside of reasoning, in order.
    pub(super) outside: Vec<&'a str>,
    /// The text after the last opening mark of a block that is never closed.
    pub(super) open: Option<&'a str>,
}

/// Splits an answer. A block that is never closed reaches to the end. A block that is closed and never opened began in the
/// prompt.
pub(super) fn outside_thinking(text: &str) -> Parts<'_> {
    let mut outside = Vec::new();
    let mut rest = text;
    // One pass over every `<`, so that time is linear in the text whatever marks it has.
    let (mut from, mut closes, mut inner) = (leading(text), None, 0);
    if let (0, Some(end)) = (from, unopened(text)) {
        rest = &text[end..];
    }
    while let Some(at) = rest[from..].find('<').map(|offset| from + offset) {
        let here = &rest[at..];
        from = at + 1;
        let opened = THINKING.iter().find(|(open, _)| here.starts_with(open));
        match (closes, opened) {
            (None, Some((open, close))) => {
                outside.push(&rest[..at]);
                from = at + open.len();
                (closes, inner) = (Some(*close), from);
            }
            (Some(_), Some((open, _))) => inner = at + open.len(),
            (Some(close), None) if here.starts_with(close) => {
                rest = &here[close.len()..];
                (from, closes) = (0, None);
            }
            _ => {}
        }
    }
    if closes.is_none() {
        outside.push(rest);
    }
    Parts {
        outside,
        open: closes.map(|_| &rest[inner..]),
    }
}

/// The end, in bytes, of the JSON value that an answer begins with, in a fence or not; 0 without one. Marks within that
/// value are content.
fn leading(text: &str) -> usize {
    let mut body = text.trim_start();
    if let Some(fence) = body.strip_prefix("```") {
        body = fence.trim_start_matches(char::is_alphanumeric).trim_start();
    }
    if !body.starts_with(['{', '[']) || !may_open(body) {
        return 0;
    }
    match lenient::read(body, MAX_DEPTH).value {
        Ok((_, length)) => text.len() - body.len() + length,
        Err(_) => 0,
    }
}

/// Where, in bytes, the answer begins if its first mark closes a block that it did not open.
fn unopened(text: &str) -> Option<usize> {
    THINKING
        .iter()
        .filter_map(|(open, close)| {
            let end = text.find(close)?;
            // A mark within an object, such as a message about HTML, is content.
            let within = text[..end].trim_start().starts_with('{');
            let opened = text.find(open).is_some_and(|start| start < end);
            (!within && !opened).then_some(end + close.len())
        })
        .min()
}
