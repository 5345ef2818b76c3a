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
/// The most compounds of one word in a segment that begin with it, and the most that end with it.
const MOST: usize = 8;
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
        let mut by_end: Vec<u32> = (0..words.len() as u32).collect();
        by_end.sort_unstable_by(|one, other| {
            let backwards = |at: &u32| words[*at as usize].bytes().rev();
            backwards(one).cmp(backwards(other))
        });
        Ok(Self { words, by_end })
    }

    /// The compounds that begin or end with a word.
    fn find(&self, word: &str) -> impl Iterator<Item = &str> {
        let least = word.chars().count() + LEAST_BESIDE;
        let is_longer = move |found: &&str| found.chars().count() >= least;
        let from = self.words.partition_point(|one| **one < *word);
        let begin = self.words[from..].iter().map(|one| &**one);
        let begin = begin.take_while(move |one| one.starts_with(word));
        let at = |at: &u32| &*self.words[*at as usize];
        let from =
            (self.by_end).partition_point(|one| at(one).bytes().rev().lt(word.bytes().rev()));
        let end = self.by_end[from..].iter().map(at);
        let end = end.take_while(move |one| one.ends_with(word));
        let begin = begin.filter(is_longer).take(MOST);
        begin.chain(end.filter(is_longer).take(MOST))
    }
}

/// Whether compounds are looked for with a word.
pub(crate) fn has_kin(word: &str) -> bool {
    word.chars().nth(SHORTEST - 1).is_some() && word.chars().all(char::is_alphabetic)
}

/// Compounds that begin or end with a word.
pub(crate) fn compounds<'a>(
    segments: impl Iterator<Item = &'a Compounds>,
    word: &str,
) -> BTreeSet<String> {
    let found = segments.flat_map(|segment| segment.find(word));
    found.map(str::to_owned).collect()
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
