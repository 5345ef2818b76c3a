//! The bundled model's vocabulary: byte-level BPE as in GPT-2, learned from the training text, and *frames*, fixed lines of
//! prompts and of JSON that are one token each wherever they stand, in data too.

mod frames;
mod merges;
mod pieces;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::corpus::Writer;
use super::document::{Document, Piece};
use crate::general::chatml::MARKS;
use merges::{Merges, printable};
use pieces::Pieces;

/// Number of learned merges beyond syllables and numbers.
const LEARNED: usize = 2_200;
/// The control token that ends a text where no turn is open; also what pads rows.
const END_OF_TEXT: &str = "<|endoftext|>";

/// Tokens and merges. Ids are below 2^15: the training files use the highest bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Vocabulary {
    /// The tokens by id: control tokens, then frames, both as they are; then the tokens of BPE in the printable form of
    /// byte-level BPE.
    pub tokens: Vec<String>,
    /// Number of control tokens.
    pub controls: usize,
    /// Number of frames.
    pub frames: usize,
    /// The merges, each as two printable tokens with a space between them.
    pub merges: Vec<String>,
}

impl Vocabulary {
    /// Learns a vocabulary from documents.
    #[must_use]
    pub fn learn(writer: &Writer, documents: &[Document]) -> Self {
        let frames = frames::find(writer, documents);
        let mut tokens: Vec<String> = MARKS.map(str::to_owned).into();
        tokens.push(END_OF_TEXT.to_owned());
        let controls = tokens.len();
        tokens.extend(frames.iter().cloned());
        let pieces = Pieces::new(&MARKS, &frames);
        let mut counts: HashMap<String, usize> = HashMap::new();
        for piece in documents.iter().flat_map(|document| &document.pieces) {
            for part in pieces.split(&piece.text, piece.control) {
                if let pieces::Part::Text(text) = part {
                    for chunk in merges::chunks(text) {
                        *counts.entry(chunk.to_owned()).or_default() += 1;
                    }
                }
            }
        }
        // The words of fixed lines too: a line that a host changed is read word by word.
        for chunk in frames.iter().flat_map(|frame| merges::chunks(frame)) {
            *counts.entry(chunk.to_owned()).or_default() += 1;
        }
        let merges = merges::learn(&counts, LEARNED);
        tokens.extend((0..=u8::MAX).map(|byte| printable(byte).to_string()));
        for merge in &merges {
            let joined = merge.replacen(' ', "", 1);
            if !tokens.contains(&joined) {
                tokens.push(joined);
            }
        }
        Self {
            tokens,
            controls,
            frames: frames.len(),
            merges,
        }
    }
}

impl Vocabulary {
    /// The text of ids. Bytes that are no UTF-8 are replaced.
    #[must_use]
    pub fn decode(&self, ids: impl IntoIterator<Item = u16>) -> String {
        let whole = self.controls + self.frames;
        let mut bytes = Vec::new();
        for id in ids.into_iter().map(usize::from) {
            let Some(token) = self.tokens.get(id) else {
                continue;
            };
            match id < whole {
                true => bytes.extend_from_slice(token.as_bytes()),
                false => bytes.extend(token.chars().filter_map(merges::byte)),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Encodes texts by a vocabulary.
#[derive(Debug)]
pub struct Encoder {
    controls: HashMap<String, u16>,
    frames: HashMap<String, u16>,
    pieces: Pieces,
    merges: Merges,
}

impl Encoder {
    /// An encoder for a vocabulary.
    #[must_use]
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let ids = vocabulary.tokens.iter().cloned().zip(0_u16..);
        let mut controls = HashMap::new();
        let mut frames = HashMap::new();
        // Merges may come to the text of a frame, which then has no second token.
        let mut words = HashMap::new();
        for (token, id) in ids {
            let at = usize::from(id);
            if at < vocabulary.controls {
                controls.insert(token.clone(), id);
            } else if at < vocabulary.controls + vocabulary.frames {
                frames.insert(token.clone(), id);
            }
            words.insert(token, id);
        }
        let marks: Vec<&str> = controls.keys().map(String::as_str).collect();
        let lines: Vec<String> = frames.keys().cloned().collect();
        Self {
            pieces: Pieces::new(&marks, &lines),
            merges: Merges::new(&vocabulary.merges, words),
            controls,
            frames,
        }
    }

    /// The ids of a text; control tokens are read where `control` is true.
    pub fn encode(&mut self, text: &str, control: bool) -> Vec<u16> {
        let mut ids = Vec::new();
        for part in self.pieces.split(text, control) {
            match part {
                pieces::Part::Mark(mark) => ids.extend(self.controls.get(mark)),
                pieces::Part::Frame(frame) => ids.extend(self.frames.get(frame)),
                pieces::Part::Text(text) => {
                    for chunk in merges::chunks(text) {
                        ids.extend_from_slice(self.merges.encode(chunk));
                    }
                }
            }
        }
        ids
    }

    /// The ids of a document, each with whether a model learns to write it.
    pub fn document(&mut self, document: &Document) -> Vec<(u16, bool)> {
        let mut ids = Vec::new();
        for Piece {
            text,
            control,
            learned,
        } in &document.pieces
        {
            let encoded = self.encode(text, *control);
            ids.extend(encoded.into_iter().map(|id| (id, *learned)));
        }
        ids
    }
}
