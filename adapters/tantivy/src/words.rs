//! Splitting text into words, the same for skills and for queries.

use tantivy::tokenizer::{PreTokenizedString, Token};

/// Longer words are truncated, in skills and in queries alike, so that they still match.
const MAX_CHARS: usize = 64;

/// The words of a text, in order: runs of letters and digits in lower case, and single Chinese or Japanese characters.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut length = 0;
    for c in text.chars() {
        let alone = is_word_of_its_own(c);
        if (alone || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
            length = 0;
        }
        if alone {
            words.push(c.to_string());
        } else if c.is_alphanumeric() && length < MAX_CHARS {
            word.extend(c.to_lowercase());
            length += 1;
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A text's words as tantivy's tokens.
pub(crate) fn tokenized(text: &str) -> PreTokenizedString {
    let tokens = words(text)
        .into_iter()
        .enumerate()
        .map(|(position, text)| Token {
            position,
            text,
            ..Token::default()
        })
        .collect();
    PreTokenizedString {
        text: String::new(),
        tokens,
    }
}

/// Kana and Han characters, which no spaces separate.
fn is_word_of_its_own(c: char) -> bool {
    matches!(u32::from(c), 0x3041..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(words(text), expect, "{text:?}");
    }

    #[test]
    fn words_of_any_text() {
        check("", &[]);
        check(" \u{0}\u{202e}—!? ", &[]);
        check(
            "Unseal-coffee, jar_2 (v1.0)",
            &["unseal", "coffee", "jar", "2", "v1", "0"],
        );
        check("Straße ÉTÉ", &["straße", "été"]);
        check(
            "咖啡を淹れるTool",
            &["咖", "啡", "を", "淹", "れ", "る", "tool"],
        );
        check("+a AND \"b c\"~2^3", &["a", "and", "b", "c", "2", "3"]);
    }

    #[test]
    fn long_words_are_cut() {
        let cut = "x".repeat(MAX_CHARS);
        check(&format!("{} y", "x".repeat(500)), &[&cut, "y"]);
    }
}
