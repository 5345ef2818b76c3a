//! Texts of messages, calls and tools behind placeholders, so that a template can neither read nor change them, and a text
//! that spells a special token stays text.

use std::{collections::HashMap, fmt::Write};

use journeyman::{Result, domain::Span};

use super::fault::unfit;

/// Begins every placeholder.
const PLACEHOLDER: &str = "JOURNEYMAN-CONTENT-";
const END: &str = "-END";
/// Greatest length of a text that stands for itself, in bytes.
const PLAIN: usize = 256;

/// The characters of a JSON string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Characters {
    /// As they are.
    All,
    /// Those beyond ASCII as escapes of UTF-16, as `ensure_ascii` writes them.
    Ascii,
}

impl Characters {
    /// Stands behind a placeholder's beginning once for every JSON string that the placeholder is in, the outermost first.
    fn mark(self) -> char {
        match self {
            Self::All => 'J',
            Self::Ascii => 'A',
        }
    }
}

/// Where a text may stand in a rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Once, behind the texts before it.
    InOrder,
    /// Once, anywhere: a system message, which some families write before the last message of the user.
    Anywhere,
    /// Once or not at all: the words before a call, which some families leave out.
    OrNowhere,
    /// At least once: a part of a call.
    Call,
    /// Any number of times: a part of a tool's definition.
    Tool,
}

/// A part of a rendered prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// The template's own text.
    Template(String),
    /// Somebody's text.
    Content(Vec<Span>),
}

impl Piece {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Template(text) => text.len(),
            Self::Content(spans) => spans.iter().map(|span| span.text().len()).sum(),
        }
    }
}

struct Leaf {
    spans: Vec<Span>,
    place: Place,
}

/// The texts of one rendering.
pub(super) struct Leaves<'s> {
    list: Vec<Leaf>,
    /// The placeholders of tools' texts, which templates may compare with each other.
    of_tools: HashMap<String, usize>,
    /// Special tokens that a plain text can spell: one that does is no plain text.
    specials: &'s [String],
}

impl<'s> Leaves<'s> {
    pub(super) fn new(specials: &'s [String]) -> Self {
        Self {
            list: Vec::new(),
            of_tools: HashMap::new(),
            specials,
        }
    }

    /// What stands for a message's content: nothing for an empty one, since templates ask whether there is some.
    pub(super) fn content(&mut self, spans: Vec<Span>, place: Place) -> String {
        match spans.iter().all(|span| span.text().is_empty()) {
            true => String::new(),
            false => placeholder(self.add(spans, place)),
        }
    }

    /// What stands for a text of a call or a tool: the text itself where it can spell no special token.
    pub(super) fn text(&mut self, text: &str, place: Place) -> String {
        let spells = |special: &String| text.contains(special.as_str());
        if text.is_empty() || (is_plain(text) && !self.specials.iter().any(spells)) {
            return text.to_owned();
        }
        if place != Place::Tool {
            return placeholder(self.add(vec![Span::Data(text.to_owned())], place));
        }
        if text.contains('\n') {
            // Templates write something in front of each line, or escape the breaks.
            let lines: Vec<String> = text
                .split('\n')
                .map(|line| self.text(line, place))
                .collect();
            return lines.join("\n");
        }
        let known = self.of_tools.get(text).copied();
        let index = known.unwrap_or_else(|| {
            let index = self.add(vec![Span::Data(text.to_owned())], place);
            self.of_tools.insert(text.to_owned(), index);
            index
        });
        placeholder(index)
    }

    fn add(&mut self, spans: Vec<Span>, place: Place) -> usize {
        self.list.push(Leaf { spans, place });
        self.list.len() - 1
    }

    /// Puts the texts back into a rendering.
    ///
    /// # Errors
    /// `Unsupported` where a text is not in its place.
    pub(super) fn put_back(&self, operation: &'static str, rendered: &str) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut seen = vec![0_usize; self.list.len()];
        let mut next = 0;
        let mut rest = rendered;
        while let Some((before, after)) = rest.split_once(PLACEHOLDER) {
            let Some((strings, index, behind)) = numbered(after) else {
                return Err(unfit(operation, CHANGED));
            };
            let Some(leaf) = self.list.get(index) else {
                return Err(unfit(operation, REPEATED));
            };
            seen[index] += 1;
            let many = matches!(leaf.place, Place::Call | Place::Tool);
            if seen[index] > 1 && !many {
                return Err(unfit(operation, REPEATED));
            }
            if leaf.place == Place::InOrder {
                if index < next {
                    return Err(unfit(operation, DROPPED));
                }
                next = index;
            }
            if !before.is_empty() {
                pieces.push(Piece::Template(before.to_owned()));
            }
            pieces.push(Piece::Content(within(&leaf.spans, &strings)));
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Template(rest.to_owned()));
        }
        let is_missing = |(leaf, seen): (&Leaf, &usize)| {
            *seen == 0 && !matches!(leaf.place, Place::Tool | Place::OrNowhere)
        };
        match self.list.iter().zip(&seen).any(is_missing) {
            true => Err(unfit(operation, DROPPED)),
            false => Ok(pieces),
        }
    }
}

const DROPPED: &str = "the chat template drops, reorders or repeats a message";
const REPEATED: &str = "the chat template repeats a message";
const CHANGED: &str = "the chat template changes a message";

fn placeholder(index: usize) -> String {
    format!("{PLACEHOLDER}{index}{END}")
}

/// The JSON strings around a placeholder, its number and the text behind it, from behind its beginning.
fn numbered(after: &str) -> Option<(Vec<Characters>, usize, &str)> {
    let known = [Characters::All, Characters::Ascii];
    let marked = |mark: char| known.into_iter().find(|one| one.mark() == mark);
    let strings: Vec<Characters> = after.chars().map_while(marked).collect();
    let (number, behind) = after[strings.len()..].split_once(END)?;
    Some((strings, number.parse().ok()?, behind))
}

/// The text of a JSON string, with the placeholders in it marked as within one.
pub(super) fn within_json(text: &str, characters: Characters) -> String {
    let mark = characters.mark();
    escaped(text, characters).replace(PLACEHOLDER, &format!("{PLACEHOLDER}{mark}"))
}

/// A text as it stands between the quotes of a JSON string.
pub(super) fn escaped(text: &str, characters: Characters) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control if u32::from(control) < 0x20 => {
                // Writing to a text cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other if characters == Characters::Ascii && !other.is_ascii() => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// The spans within these JSON strings, the outermost first.
fn within(spans: &[Span], strings: &[Characters]) -> Vec<Span> {
    let deeper = |span: &Span| match span {
        Span::Data(text) => {
            let inner = strings.iter().rev();
            let text = inner.fold(text.clone(), |text, characters| escaped(&text, *characters));
            Span::Data(text)
        }
        control => control.clone(),
    };
    spans.iter().map(deeper).collect()
}

/// Whether a text has only letters, digits, blanks and signs that no special token is written with.
fn is_plain(text: &str) -> bool {
    let signs = " _-.,:;/()'!?%+*=#@&";
    text.len() <= PLAIN
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || signs.contains(c))
        && !text.contains(PLACEHOLDER)
}

/// Whether a special token is spelled like a plain text.
pub(crate) fn spells_plain(special: &str) -> bool {
    !special.is_empty() && is_plain(special)
}
