//! The vocabulary of the bundled model: control tokens, all bytes, and every word of the lexicon as one token.
//!
//! The merges form a byte-level BPE that encodes any text. Merges that begin with a space come first and spell each
//! word letter by letter from its start, so a listed word is always one token. The remaining merges join a consonant
//! and a vowel, for invented nouns.

use std::collections::HashMap;

use serde::Serialize;

use crate::lexicon::{CONSONANTS, VOWELS, all_words};

/// Control tokens, which no text can contain. Each role and each part of a script opens with its own.
pub const CONTROLS: &[&str] = &[
    "<s>",
    "<end>",
    "<task>",
    "<skill>",
    "<skill2>",
    "<tools>",
    "<plan>",
    "<use>",
    "<use2>",
    "<skip>",
    "<none>",
    "<call>",
    "<obs>",
    "<extract>",
    "<lesson>",
    "<compare>",
    "<repair>",
    "<credit>",
    "<segment>",
    "<tag>",
    "<score>",
    "<curate>",
    "<rule>",
    "<note>",
    "<r0>",
    "<r1>",
    "<r2>",
    "<r3>",
    "<r4>",
    "<r5>",
    "<r6>",
    "<r7>",
    "<r8>",
    "<r9>",
    "<r10>",
    "<r11>",
    "<r12>",
    "<r13>",
    "<r14>",
    "<r15>",
];

/// The vocabulary and merges, in the order of their ids.
#[derive(Debug, Clone, Serialize)]
pub struct Vocabulary {
    /// Each token, in the printable alphabet of byte-level BPE.
    pub tokens: Vec<String>,
    /// Number of control tokens, which come first.
    pub controls: usize,
    /// The merges, best first, as two parts joined by a space.
    pub merges: Vec<String>,
    #[serde(skip)]
    ids: HashMap<String, u16>,
    #[serde(skip)]
    ranks: HashMap<(String, String), usize>,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::new()
    }
}

impl Vocabulary {
    /// The vocabulary of this version of the lexicon.
    #[must_use]
    pub fn new() -> Self {
        let mut made = Self {
            tokens: CONTROLS
                .iter()
                .map(|control| (*control).to_owned())
                .collect(),
            controls: CONTROLS.len(),
            merges: Vec::new(),
            ids: HashMap::new(),
            ranks: HashMap::new(),
        };
        made.tokens
            .extend((0..=u8::MAX).map(|byte| printable(byte).to_string()));
        made.ids = made.tokens.iter().cloned().zip(0..).collect();
        let syllables = || {
            CONSONANTS
                .chars()
                .flat_map(|c| VOWELS.chars().map(move |v| format!("{c}{v}")))
        };
        let numbers = (1..=99).map(|number| number.to_string());
        let signs = ["#", "$", "@", "?"].map(str::to_owned);
        for word in all_words()
            .map(str::to_owned)
            .chain(syllables())
            .chain(numbers)
            .chain(signs)
        {
            made.spell(&format!(" {word}"));
        }
        for syllable in syllables() {
            made.spell(&syllable);
        }
        made
    }

    /// The id of a token by its printable form.
    #[must_use]
    pub fn id(&self, token: &str) -> Option<u16> {
        self.ids.get(token).copied()
    }

    /// The bytes of a token; for a control token, the bytes of its name.
    #[must_use]
    pub fn bytes(&self, id: u16) -> Vec<u8> {
        let token = self
            .tokens
            .get(usize::from(id))
            .map(String::as_str)
            .unwrap_or_default();
        if usize::from(id) < self.controls {
            return token.bytes().collect();
        }
        token
            .chars()
            .filter_map(|sign| (0..=u8::MAX).find(|&byte| printable(byte) == sign))
            .collect()
    }

    /// Encodes text without control tokens.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<u16> {
        chunks(text)
            .into_iter()
            .flat_map(|chunk| self.encode_chunk(chunk))
            .collect()
    }

    fn encode_chunk(&self, chunk: &str) -> Vec<u16> {
        let whole: String = chunk.bytes().map(printable).collect();
        if let (Some(id), true) = (self.id(&whole), chunk.starts_with(' ')) {
            return vec![id];
        }
        let mut parts: Vec<String> = whole.chars().map(String::from).collect();
        while let Some((_, at)) = (0..parts.len().saturating_sub(1))
            .filter_map(|at| {
                Some((
                    *self
                        .ranks
                        .get(&(parts.get(at)?.clone(), parts.get(at + 1)?.clone()))?,
                    at,
                ))
            })
            .min()
        {
            let right = parts.remove(at + 1);
            if let Some(left) = parts.get_mut(at) {
                left.push_str(&right);
            }
        }
        parts.iter().filter_map(|part| self.id(part)).collect()
    }

    /// Adds the merges that spell the text from its start, and their tokens.
    fn spell(&mut self, text: &str) {
        let mut left = String::new();
        for byte in text.bytes() {
            let right = printable(byte).to_string();
            if left.is_empty() {
                left = right;
                continue;
            }
            let joined = format!("{left}{right}");
            if !self.ids.contains_key(&joined) {
                self.merges.push(format!("{left} {right}"));
                self.ranks.insert((left, right), self.ranks.len());
                self.ids.insert(joined.clone(), self.tokens.len() as u16);
                self.tokens.push(joined.clone());
            }
            left = joined;
        }
    }
}

/// The printable character of a byte in byte-level BPE.
fn printable(byte: u8) -> char {
    let plain = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if plain(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&other| !plain(other)).count() as u32;
    char::from_u32(256 + before).unwrap_or(' ')
}

/// Splits a text into the pieces that merges do not cross: a run of letters, digits or other signs with the space
/// before it, or white space.
fn chunks(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(chunk_length(rest));
        found.push(chunk);
        rest = after;
    }
    found
}

fn chunk_length(text: &str) -> usize {
    #[derive(PartialEq)]
    enum Class {
        Letter,
        Digit,
        Blank,
        Sign,
    }
    let class = |c: char| match c {
        c if c.is_alphabetic() => Class::Letter,
        c if c.is_numeric() => Class::Digit,
        c if c.is_whitespace() => Class::Blank,
        _ => Class::Sign,
    };
    let run = |text: &str, of: &Class| {
        text.chars()
            .take_while(|&c| class(c) == *of)
            .map(char::len_utf8)
            .sum::<usize>()
    };
    let blanks = run(text, &Class::Blank);
    let after = &text[blanks..];
    let last_blank = text[..blanks].chars().next_back();
    match (last_blank, after.chars().next()) {
        (Some(_), None) => blanks,
        (Some(blank), Some(_)) if blanks > blank.len_utf8() => blanks - blank.len_utf8(),
        (Some(' '), Some(next)) => blanks + run(after, &class(next)),
        (Some(_), Some(_)) => blanks,
        (None, Some(next)) => run(after, &class(next)),
        (None, None) => text.len(),
    }
}
