//! The content words of a text, without function words and numbers, and their n-grams.

/// English function words, sorted.
const FUNCTION_WORDS: [&str; 56] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "do", "does",
    "for", "from", "has", "have", "i", "if", "in", "into", "is", "it", "its", "me", "must", "my",
    "of", "or", "our", "please", "should", "so", "than", "that", "the", "their", "then", "there",
    "these", "they", "this", "those", "to", "was", "we", "were", "what", "when", "which", "will",
    "with", "would", "you", "your",
];

/// The greatest length of a word in characters; longer runs are hashes or encoded files.
const MAX_CHARS: usize = 32;

/// The content words of a text in order, in lower case: runs of letters and digits, split at an inner capital
/// (`startEngine`), and each Chinese or Japanese character by itself. English function words are left out, and so are words
/// with a digit: numbers, identifiers, dates.
pub(crate) fn content_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before_is_lower = false;
    for c in text.chars() {
        let alone = is_word_of_its_own(c);
        if alone || !c.is_alphanumeric() || (before_is_lower && c.is_uppercase()) {
            keep(&mut words, &mut word);
        }
        before_is_lower = c.is_lowercase();
        if alone {
            words.push(c.to_string());
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    keep(&mut words, &mut word);
    words
}

/// Whether a word, in lower case, is an English function word.
pub(crate) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

pub(crate) fn ngrams(words: &[String]) -> impl Iterator<Item = String> {
    let pairs = words.windows(2).map(|pair| pair.join(" "));
    words.iter().cloned().chain(pairs)
}

fn keep(words: &mut Vec<String>, word: &mut String) {
    let word = std::mem::take(word);
    let says_something = !word.is_empty()
        && word.chars().count() <= MAX_CHARS
        && !word.contains(char::is_numeric)
        && !is_function_word(&word);
    if says_something {
        words.push(word);
    }
}

/// Whether a character is a word by itself: Kana and Han characters, which are written without spaces.
fn is_word_of_its_own(c: char) -> bool {
    matches!(u32::from(c), 0x3041..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(content_words(text), expect, "{text:?}");
    }

    #[test]
    fn what_says_something_stays() {
        assert!(FUNCTION_WORDS.is_sorted());
        check("", &[]);
        check(" \u{0}\u{202e}—!? 12 ", &[]);
        check(
            "Could you please brew the Coffee with power 65?",
            &["brew", "coffee", "power"],
        );
        check(
            "startEngine(ignitionMode='START') order_12446 v2",
            &["start", "engine", "ignition", "mode", "start", "order"],
        );
        check(
            "咖啡を淹れるTool",
            &["咖", "啡", "を", "淹", "れ", "る", "tool"],
        );
        check("Straße ÉTÉ ४२", &["straße", "été"]);
        check(&"x".repeat(33), &[]);
    }

    #[test]
    fn one_and_two() {
        let grams: Vec<String> = ngrams(&content_words("brew the coffee now")).collect();
        assert_eq!(
            grams,
            ["brew", "coffee", "now", "brew coffee", "coffee now"]
        );
        assert_eq!(ngrams(&[]).count(), 0);
    }
}
