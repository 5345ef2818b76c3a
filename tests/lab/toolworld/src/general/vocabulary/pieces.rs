//! Splitting a text at control tokens and frames, as llama.cpp does before it merges bytes.

use std::collections::HashMap;

/// Bytes by which candidates are looked up.
const KEY: usize = 2;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// A control token.
    Mark(&'t str),
    /// A frame.
    Frame(&'t str),
    /// Text between them.
    Text(&'t str),
}

/// Finds control tokens and frames: at each place the longest. llama.cpp takes the longest in the whole text first; the two
/// agree where no frame begins with the end of a shorter one, which `frames` sees to.
#[derive(Debug)]
pub(super) struct Pieces {
    by_start: HashMap<[u8; KEY], Vec<(String, bool)>>,
}

impl Pieces {
    pub(super) fn new(marks: &[&str], frames: &[String]) -> Self {
        let mut by_start: HashMap<[u8; KEY], Vec<(String, bool)>> = HashMap::new();
        let marks = marks.iter().map(|mark| ((*mark).to_owned(), true));
        let frames = frames.iter().map(|frame| (frame.clone(), false));
        for (text, is_mark) in marks.chain(frames) {
            if let Some(key) = key(text.as_bytes()) {
                by_start.entry(key).or_default().push((text, is_mark));
            }
        }
        for candidates in by_start.values_mut() {
            candidates.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        }
        Self { by_start }
    }

    /// The parts of a text, in order.
    pub(super) fn split<'t>(&self, text: &'t str, control: bool) -> Vec<Part<'t>> {
        let mut parts = Vec::new();
        let (mut begin, mut at) = (0, 0);
        while at < text.len() {
            let Some((length, is_mark)) = self.starts(&text.as_bytes()[at..], control) else {
                at += 1;
                continue;
            };
            if begin < at {
                parts.push(Part::Text(&text[begin..at]));
            }
            let found = &text[at..at + length];
            parts.push(match is_mark {
                true => Part::Mark(found),
                false => Part::Frame(found),
            });
            at += length;
            begin = at;
        }
        if begin < text.len() {
            parts.push(Part::Text(&text[begin..]));
        }
        parts
    }

    fn starts(&self, rest: &[u8], control: bool) -> Option<(usize, bool)> {
        let candidates = self.by_start.get(&key(rest)?)?;
        let mut fitting = candidates
            .iter()
            .filter(|(text, is_mark)| (control || !is_mark) && rest.starts_with(text.as_bytes()));
        fitting.next().map(|(text, is_mark)| (text.len(), *is_mark))
    }
}

fn key(bytes: &[u8]) -> Option<[u8; KEY]> {
    bytes.first_chunk::<KEY>().copied()
}
