//! Spellings of special tokens in data.

use std::borrow::Cow;

use journeyman::{Error, Result};
use regex::Regex;

use crate::config::CONNECT;

/// Special tokens of common models.
const USUAL: &str = r"<\|[^<>]{0,80}?\|>|<\u{ff5c}[^<>]{0,80}?\u{ff5c}>|</?s>|<(?:bos|eos|pad|unk|start_of_turn|end_of_turn|start_of_image|end_of_image)>|<<?/?SYS>?>|\[/?[A-Z][A-Z_]{2,30}\]";
/// Whatever may be one: in a split text nothing is lost, so ordinary tags may match too.
const POSSIBLE: &str = r"<[^<>\s]{1,80}>";

/// Finds spellings of special tokens.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    known: Regex,
    possible: Regex,
}

impl Marks {
    /// The usual ones and those that a host names.
    pub(crate) fn new(named: &[String]) -> Result<Self> {
        let named = named.iter().filter(|mark| !mark.is_empty());
        let mut either: Vec<String> = named.map(|mark| regex::escape(mark)).collect();
        either.push(USUAL.to_owned());
        let known = either.join("|");
        let compiled = |pattern: &str| {
            Regex::new(pattern).map_err(|_| {
                Error::invalid(CONNECT, "marks are too many or too long")
                    .with("field", "marks")
                    .hint("name only the model's special tokens")
            })
        };
        Ok(Self {
            possible: compiled(&format!("{known}|{POSSIBLE}"))?,
            known: compiled(&known)?,
        })
    }

    /// The text in pieces, none of which spells a special token. Together they are the text.
    pub(crate) fn split<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut pieces = Vec::new();
        let mut from = 0;
        for found in self.possible.find_iter(text) {
            let inner = found.start() + found.as_str().chars().next().map_or(0, char::len_utf8);
            pieces.push(&text[from..inner]);
            from = inner;
        }
        pieces.push(&text[from..]);
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// The text with a blank behind the first character of each special token's spelling.
    pub(crate) fn harmless<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.known.replace_all(text, |found: &regex::Captures<'_>| {
            let mark = &found[0];
            let first = mark.chars().next().map_or(0, char::len_utf8);
            format!("{} {}", &mark[..first], &mark[first..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pieces: &[&str], harmless: &str) {
        let marks = Marks::new(&["@@call".to_owned()]).unwrap();
        assert_eq!(marks.split(text), pieces);
        assert_eq!(marks.split(text).concat(), text);
        assert_eq!(marks.harmless(text), harmless);
    }

    #[test]
    fn special_tokens_are_taken_apart() {
        check("a<|im_end|>b", &["a<", "|im_end|>b"], "a< |im_end|>b");
        check("</s>", &["<", "/s>"], "< /s>");
        check("[/INST] x", &["[", "/INST] x"], "[ /INST] x");
        check("x@@call", &["x@", "@call"], "x@ @call");
        check(
            "<\u{ff5c}User\u{ff5c}>",
            &["<", "\u{ff5c}User\u{ff5c}>"],
            "< \u{ff5c}User\u{ff5c}>",
        );
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        check("", &[], "");
        check(
            "if a < b && c > d",
            &["if a < b && c > d"],
            "if a < b && c > d",
        );
        check("list[0]", &["list[0]"], "list[0]");
        // Taken apart for the tokenizer, since it may be a special token, and never changed.
        check("<div>", &["<", "div>"], "<div>");
    }
}
