//! A training document: pieces of text that are tokenized apart from one another, as the adapter does.

use serde::{Deserialize, Serialize};

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether it is the template's own: then it may hold control tokens.
    pub control: bool,
    /// Whether a model learns to write it.
    pub learned: bool,
}

/// A training document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Document {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
}

impl Document {
    /// Adds to the template's own text, which is one piece up to the next data.
    pub(crate) fn control(&mut self, text: impl Into<String>, learned: bool) {
        self.push(text.into(), true, learned);
    }

    /// Adds a piece of data.
    pub(crate) fn data(&mut self, text: impl Into<String>, learned: bool) {
        self.push(text.into(), false, learned);
    }

    fn push(&mut self, text: String, control: bool, learned: bool) {
        let last = self.pieces.last_mut();
        if let Some(last) = last
            && control
            && last.control
            && last.learned == learned
        {
            last.text.push_str(&text);
        } else if !text.is_empty() {
            self.pieces.push(Piece {
                text,
                control,
                learned,
            });
        }
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect()
    }

    /// The text for people: what a model learns to write stands between double angle brackets.
    #[must_use]
    pub fn readable(&self) -> String {
        let mut text = String::new();
        let mut open = false;
        for piece in &self.pieces {
            if piece.learned != open {
                text.push_str(if piece.learned { "\u{ab}" } else { "\u{bb}" });
                open = piece.learned;
            }
            text.push_str(&piece.text);
        }
        if open {
            text.push('\u{bb}');
        }
        text
    }
}
