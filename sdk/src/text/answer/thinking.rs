//! Finds and removes the reasoning blocks of a model's answer.

use std::borrow::Cow;

use super::lenient::{self, MAX_BYTES, MAX_DEPTH, may_open};
use crate::text::block::plain;

/// The marks that reasoning models put around their thinking.
pub(super) const MARKS: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    // Seed
    ("<seed:think>", "</seed:think>"),
    // MiniMax
    ("<mm:think>", "</mm:think>"),
    // Mistral
    ("[THINK]", "[/THINK]"),
    // Command
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    // Gemma 4
    ("<|channel>thought", "<channel|>"),
    // Apriel, which opens no block
    ("[BEGIN REASONING]", "[BEGIN FINAL RESPONSE]"),
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

/// A text of a field of an answer without the reasoning blocks that are closed within it. Where a block begins or ends outside
/// of the text, nobody can say what is thought: [`marks_thinking`] tells of what is left.
pub(crate) fn without_closed_thinking(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '[']) {
        return Cow::Borrowed(text);
    }
    let lower = text.to_ascii_lowercase();
    // Where the last closing mark of each kind begins, so that time is linear in the text.
    let marks = MARKS.map(|(open, close)| {
        let (open, close) = (open.to_ascii_lowercase(), close.to_ascii_lowercase());
        let last = lower.rfind(&close);
        (open, close, last)
    });
    let closed = |at: usize| {
        let here = marks
            .iter()
            .filter(|(open, ..)| lower[at..].starts_with(open));
        here.filter(|(open, _, last)| last.is_some_and(|last| last >= at + open.len()))
            .find_map(|(_, close, _)| Some(at + lower[at..].find(close.as_str())? + close.len()))
    };
    let (mut outside, mut start, mut from) = (String::new(), 0, 0);
    while let Some(at) = lower[from..].find(['<', '[']).map(|offset| from + offset) {
        from = at + 1;
        if let Some(end) = closed(at) {
            outside.push_str(&text[start..at]);
            (start, from) = (end, end);
        }
    }
    match start {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(outside + &text[start..]),
    }
}

/// Whether a text holds a mark of a reasoning block, in whatever case and with whatever blank space.
pub(crate) fn marks_thinking(text: &str) -> bool {
    if !text.contains(['<', '[']) {
        return false;
    }
    let text = plain(text);
    let mut marks = MARKS.iter().flat_map(|(open, close)| [open, close]);
    marks.any(|mark| text.contains(&plain(mark)))
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
    // One pass over every mark's first sign, so that time is linear in the text whatever marks it has.
    let (mut from, mut closes, mut inner) = (leading(text), None, 0);
    if let (0, Some(end)) = (from, unopened(text)) {
        rest = &text[end..];
    }
    while let Some(at) = rest[from..].find(['<', '[']).map(|offset| from + offset) {
        let here = &rest[at..];
        from = at + 1;
        let opened = MARKS.iter().find(|(open, _)| here.starts_with(open));
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
    MARKS
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str, marked: bool) {
        let outside = without_closed_thinking(text);
        assert_eq!(outside, expect, "{text:?}");
        assert_eq!(marks_thinking(&outside), marked, "{text:?}");
    }

    #[test]
    fn a_field_loses_the_blocks_that_are_closed_within_it() {
        for (open, close) in MARKS {
            check(&format!("{open}hm{close}Call unlock"), "Call unlock", false);
            check(&format!("a {open}x{close}b{open}y{close}"), "a b", false);
            check(&format!("a{close}b"), &format!("a{close}b"), true);
            check(&format!("a{open}b"), &format!("a{open}b"), true);
        }
        check("", "", false);
        check(
            "1 < 2 [x] `Vec<Think>`".replace("Think", "T").as_str(),
            "1 < 2 [x] `Vec<T>`",
            false,
        );
        check("<THINK>hm</Think>é", "é", false);
        check("< think >hm</ think>é", "< think >hm</ think>é", true);
        check("<think>a<think>b</think>c</think>d", "c</think>d", true);
        check("<think>a[/THINK]b", "<think>a[/THINK]b", true);
    }

    #[test]
    fn many_marks_take_no_longer_than_their_text() {
        let text = "<think>".repeat(200_000);
        assert_eq!(without_closed_thinking(&text), text);
    }
}
