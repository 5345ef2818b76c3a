//! Byte-level BPE: learning merges and applying them.

use std::collections::HashMap;

use crate::lexicon::{CONSONANTS, VOWELS};

/// Fewest occurrences of a pair that becomes a merge.
const FEWEST: usize = 3;

/// Learns merges from the counts of chunks. Syllables of invented nouns and numbers up to 99 come first, bare and with a space
/// before them, so that names which no text has are spelled in the same few tokens.
pub(super) fn learn(counts: &HashMap<String, usize>, most: usize) -> Vec<String> {
    let mut merges = fixed();
    let mut words: Vec<(Vec<String>, usize)> = counts
        .iter()
        .map(|(chunk, count)| (spelled(chunk), *count))
        .collect();
    words.sort();
    for merge in &merges {
        apply(&mut words, merge);
    }
    let fixed = merges.len();
    while merges.len() < fixed + most {
        let mut pairs: HashMap<(&str, &str), usize> = HashMap::new();
        for (word, count) in &words {
            for pair in word.windows(2) {
                if let [left, right] = pair {
                    *pairs.entry((left, right)).or_default() += count;
                }
            }
        }
        let best = pairs
            .into_iter()
            .max_by(|(one, count), (other, than)| count.cmp(than).then(other.cmp(one)));
        let Some(((left, right), count)) = best else {
            break;
        };
        if count < FEWEST {
            break;
        }
        let merge = (left.to_owned(), right.to_owned());
        apply(&mut words, &merge);
        merges.push(merge);
    }
    merges
        .into_iter()
        .map(|(left, right)| format!("{left} {right}"))
        .collect()
}

fn fixed() -> Vec<(String, String)> {
    let space = printable(b' ').to_string();
    let mut merges = Vec::new();
    let syllables = CONSONANTS
        .chars()
        .flat_map(|c| VOWELS.chars().map(move |v| (c.to_string(), v.to_string())));
    let numbers =
        ('1'..='9').flat_map(|t| ('0'..='9').map(move |u| (t.to_string(), u.to_string())));
    let pairs: Vec<(String, String)> = syllables.chain(numbers).collect();
    merges.extend(pairs.iter().cloned());
    for (left, right) in pairs {
        merges.push((space.clone(), format!("{left}{right}")));
    }
    for digit in '0'..='9' {
        merges.push((space.clone(), digit.to_string()));
    }
    merges
}

fn spelled(chunk: &str) -> Vec<String> {
    chunk
        .bytes()
        .map(|byte| printable(byte).to_string())
        .collect()
}

fn apply(words: &mut [(Vec<String>, usize)], (left, right): &(String, String)) {
    for (word, _) in words {
        join(word, left, right);
    }
}

/// Joins each occurrence of a pair, from the left.
fn join(word: &mut Vec<String>, left: &str, right: &str) {
    let mut at = 0;
    while at + 1 < word.len() {
        if word[at] == left && word[at + 1] == right {
            let behind = word.remove(at + 1);
            word[at].push_str(&behind);
        }
        at += 1;
    }
}

/// Applies merges to chunks, and remembers what came of them.
#[derive(Debug)]
pub(super) struct Merges {
    ranks: HashMap<(String, String), usize>,
    ids: HashMap<String, u16>,
    known: HashMap<String, Vec<u16>>,
}

impl Merges {
    pub(super) fn new(merges: &[String], ids: HashMap<String, u16>) -> Self {
        let pairs = merges.iter().filter_map(|merge| {
            let (left, right) = merge.split_once(' ')?;
            Some((left.to_owned(), right.to_owned()))
        });
        Self {
            ranks: pairs.zip(0..).collect(),
            ids,
            known: HashMap::new(),
        }
    }

    pub(super) fn encode(&mut self, chunk: &str) -> &[u16] {
        if !self.known.contains_key(chunk) {
            let ids = self.merged(chunk);
            self.known.insert(chunk.to_owned(), ids);
        }
        self.known.get(chunk).map_or(&[], Vec::as_slice)
    }

    fn merged(&self, chunk: &str) -> Vec<u16> {
        let mut word = spelled(chunk);
        while let Some((_, at)) = (1..word.len())
            .filter_map(|at| {
                let pair = (word[at - 1].clone(), word[at].clone());
                Some((*self.ranks.get(&pair)?, at))
            })
            .min()
        {
            let behind = word.remove(at);
            word[at - 1].push_str(&behind);
        }
        word.iter()
            .filter_map(|token| self.ids.get(token).copied())
            .collect()
    }
}

/// The printable character of a byte in byte-level BPE.
pub(super) fn printable(byte: u8) -> char {
    let plain = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if plain(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&other| !plain(other)).count() as u32;
    char::from_u32(256 + before).unwrap_or(' ')
}

/// The byte of a printable character.
pub(super) fn byte(sign: char) -> Option<u8> {
    (0..=u8::MAX).find(|&byte| printable(byte) == sign)
}

/// Splits a text into the pieces that merges do not cross, as GPT-2 does: an English contraction; a run of letters, digits
/// or other signs with the space before it; or white space.
pub(super) fn chunks(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(length(rest));
        found.push(chunk);
        rest = after;
    }
    found
}

#[derive(PartialEq, Clone, Copy)]
enum Class {
    Letter,
    Digit,
    Blank,
    Sign,
}

fn class(c: char) -> Class {
    match c {
        c if c.is_alphabetic() => Class::Letter,
        c if c.is_numeric() => Class::Digit,
        c if c.is_whitespace() => Class::Blank,
        _ => Class::Sign,
    }
}

fn run(text: &str, of: Class) -> usize {
    text.chars()
        .take_while(|&c| class(c) == of)
        .map(char::len_utf8)
        .sum()
}

fn length(text: &str) -> usize {
    let contractions = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];
    if let Some(found) = contractions.iter().find(|one| text.starts_with(**one)) {
        return found.len();
    }
    let blanks = run(text, Class::Blank);
    let after = text.get(blanks..).unwrap_or_default();
    let last = text
        .get(..blanks)
        .and_then(|blank| blank.chars().next_back());
    match (last, after.chars().next()) {
        (Some(_), None) => blanks,
        (Some(blank), Some(_)) if blanks > blank.len_utf8() => blanks - blank.len_utf8(),
        (Some(' '), Some(next)) => blanks + run(after, class(next)),
        (Some(_), Some(_)) => blanks,
        (None, Some(next)) => run(after, class(next)),
        (None, None) => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_as_gpt_2_does() {
        assert_eq!(
            chunks("{\"name\": \"unseal_coffee\"}\n\n it's 12"),
            [
                "{\"", "name", "\":", " \"", "unseal", "_", "coffee", "\"}", "\n\n", " it", "'s",
                " 12"
            ]
        );
        assert_eq!(chunks("'student"), ["'s", "tudent"]);
        assert_eq!(chunks("a\n\nb"), ["a", "\n", "\n", "b"]);
    }

    #[test]
    fn merges_are_learned_and_applied() {
        let counts = HashMap::from([(" unseal".to_owned(), 10), ("unseal".to_owned(), 10)]);
        let merges = learn(&counts, 50);
        let mut ids: HashMap<String, u16> = HashMap::new();
        for token in (0..=u8::MAX).map(|byte| printable(byte).to_string()) {
            let next = ids.len() as u16;
            ids.insert(token, next);
        }
        for merge in &merges {
            let next = ids.len() as u16;
            ids.entry(merge.replacen(' ', "", 1)).or_insert(next);
        }
        let mut merges = Merges::new(&merges, ids);
        assert_eq!(merges.encode(" unseal").len(), 1);
        assert_eq!(merges.encode("unseal").len(), 1);
        assert_eq!(merges.encode("zuvo").len(), 2);
    }
}
