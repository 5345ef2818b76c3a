//! Words that are glued to a query's word in the library, and the other way round: `Rechnung` and `Rechnungsnummer`.

use std::collections::BTreeSet;

use tantivy::{Searcher, SegmentReader, TantivyError, Term, schema::Field};

use crate::bm25;

/// The shortest word that a compound is looked for with, in characters; many shorter ones begin or end words of other meaning.
const SHORTEST: usize = 5;
/// The least that a compound has beside the word: less is an ending.
const LEAST_BESIDE: usize = 3;
/// The shortest part of a compound that is split.
const SHORTEST_PART: usize = 4;
/// The most compounds of one word that begin with it, and the most that end with it.
const MOST: usize = 4;
/// What German puts between the parts of a compound.
const LINKS: [&str; 5] = ["s", "es", "n", "en", "er"];

/// The words of a segment that can be compounds. They never change.
#[derive(Debug)]
pub(crate) struct Compounds {
    /// Sorted.
    words: Vec<Box<str>>,
    /// Places in `words`, sorted by the words read backwards.
    by_end: Vec<u32>,
}

impl Compounds {
    pub(crate) fn of(segment: &SegmentReader, fields: &[Field]) -> Result<Self, TantivyError> {
        let mut words: Vec<Box<str>> = Vec::new();
        for field in fields {
            let index = segment.inverted_index(*field)?;
            let mut stream = index.terms().stream()?;
            while stream.advance() {
                if let Ok(term) = std::str::from_utf8(stream.key())
                    && term.chars().count() >= SHORTEST + LEAST_BESIDE
                    && term.chars().all(char::is_alphabetic)
                {
                    words.push(Box::from(term));
                }
            }
        }
        words.sort_unstable();
        words.dedup();
        Ok(Self::sorted(words))
    }

    fn sorted(words: Vec<Box<str>>) -> Self {
        let mut by_end: Vec<u32> = (0..words.len() as u32).collect();
        by_end.sort_unstable_by(|one, other| {
            let backwards = |at: &u32| words[*at as usize].bytes().rev();
            backwards(one).cmp(backwards(other))
        });
        Self { words, by_end }
    }

    /// The compounds that begin with a word, sorted.
    fn beginning(&self, word: &str) -> impl Iterator<Item = &str> {
        let from = self.words.partition_point(|one| **one < *word);
        let found = self.words[from..].iter().map(|one| &**one);
        let found = found.take_while(move |one| one.starts_with(word));
        found.filter(longer(word))
    }

    /// The compounds that end with a word, sorted by what they are backwards.
    fn ending(&self, word: &str) -> impl Iterator<Item = &str> {
        let at = |at: &u32| &*self.words[*at as usize];
        let from =
            (self.by_end).partition_point(|one| at(one).bytes().rev().lt(word.bytes().rev()));
        let found = self.by_end[from..].iter().map(at);
        let found = found.take_while(move |one| one.ends_with(word));
        found.filter(longer(word))
    }
}

fn longer(word: &str) -> impl Fn(&&str) -> bool {
    let least = word.chars().count() + LEAST_BESIDE;
    move |found| found.chars().count() >= least
}

/// Whether compounds are looked for with a word.
pub(crate) fn has_kin(word: &str) -> bool {
    word.chars().nth(SHORTEST - 1).is_some() && word.chars().all(char::is_alphabetic)
}

/// Compounds that begin or end with a word: the first ones that a skill has, however the words are spread over segments. Segments
/// also hold words that no skill has any more.
pub(crate) fn compounds(
    segments: &[&Compounds],
    word: &str,
    is_held: impl Fn(&str) -> Result<bool, TantivyError>,
) -> Result<BTreeSet<String>, TantivyError> {
    let all = segments.iter();
    let beginning: BTreeSet<&str> = all.clone().flat_map(|one| one.beginning(word)).collect();
    let mut ending: Vec<&str> = all.flat_map(|one| one.ending(word)).collect();
    ending.sort_unstable_by(|one, other| one.bytes().rev().cmp(other.bytes().rev()));
    ending.dedup();
    let mut found = BTreeSet::new();
    for group in [beginning.into_iter().collect(), ending] {
        let mut left = MOST;
        for one in group {
            if left > 0 && is_held(one)? {
                found.insert(one.to_owned());
                left -= 1;
            }
        }
    }
    Ok(found)
}

/// The two words of the index that a word is glued of.
pub(crate) fn split(
    searcher: &Searcher,
    fields: &[Field],
    word: &str,
) -> Result<Vec<String>, TantivyError> {
    let is_known = |part: &str| -> Result<bool, TantivyError> {
        for field in fields {
            for segment in searcher.segment_readers() {
                if bm25::holders(segment, &Term::from_field_text(*field, part))? > 0 {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    };
    let cuts = word.char_indices().map(|(at, _)| at).skip(SHORTEST_PART);
    for at in cuts {
        let (left, right) = word.split_at(at);
        if right.chars().count() < SHORTEST_PART || !is_known(right)? {
            continue;
        }
        let unlinked = LINKS.iter().filter_map(|link| left.strip_suffix(link));
        for left in [left].into_iter().chain(unlinked) {
            if left.chars().count() >= SHORTEST_PART && is_known(left)? {
                return Ok(vec![left.to_owned(), right.to_owned()]);
            }
        }
    }
    Ok(Vec::new())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn segment(words: &[&str]) -> Compounds {
        let mut words: Vec<Box<str>> = words.iter().map(|word| Box::from(*word)).collect();
        words.sort_unstable();
        Compounds::sorted(words)
    }

    #[test]
    fn the_same_compounds_are_found_however_segments_hold_them() {
        let beginning = [
            "wagenbau",
            "wagendach",
            "wagenfarbe",
            "wagenheber",
            "wagenkauf",
            "wagenrad",
        ];
        let ending = [
            "bauwagen",
            "eiswagen",
            "kinderwagen",
            "leihwagen",
            "mietwagen",
            "wagens",
        ];
        let all: Vec<&str> = beginning.into_iter().chain(ending).collect();
        let whole = segment(&all);
        let find = |segments: &[&Compounds]| compounds(segments, "wagen", |_| Ok(true)).unwrap();
        let expected = find(&[&whole]);
        assert_eq!(expected.len(), 2 * MOST, "{expected:?}");
        assert!(!expected.contains("wagens"), "an ending is no compound");
        for cut in 1..all.len() {
            let (one, other) = all.split_at(cut);
            let (one, other) = (segment(one), segment(other));
            assert_eq!(find(&[&other, &one]), expected);
        }
        assert_eq!(find(&[&whole, &whole]), expected);
        // Words that were replaced take no place.
        let held = |word: &str| Ok(["wagenrad", "mietwagen"].contains(&word));
        let found = compounds(&[&whole], "wagen", held).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
