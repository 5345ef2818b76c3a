//! The features by which segments are compared: hashed n-grams.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::{
    papers::hisme::Segment,
    text::{content_words, ngrams},
};

/// The hash of an n-gram and of its kind (fragment or error): 64 bits of SipHash, so that a collision is negligible.
pub(super) type Feature = u64;

/// A set of n-grams.
#[derive(Clone, Debug, Default)]
pub(super) struct Grams {
    /// Ascending, each once.
    pub(super) sorted: Vec<Feature>,
    /// A bit for each n-gram; several n-grams share a bit.
    bitmap: [u64; 4],
}

impl Grams {
    pub(super) fn new(kind: &str, texts: &BTreeSet<String>) -> Self {
        let mut sorted: Vec<Feature> = texts.iter().map(|text| feature(kind, text)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut bitmap = [0; 4];
        for feature in &sorted {
            bitmap[(feature >> 6) as usize % 4] |= 1 << (feature % 64);
        }
        Self { sorted, bitmap }
    }

    /// The Jaccard index; 0 for two empty sets.
    pub(super) fn jaccard(&self, other: &Self) -> f64 {
        let (mut a, mut b) = (self.sorted.as_slice(), other.sorted.as_slice());
        let mut both = 0;
        while let ([first, rest @ ..], [second, others @ ..]) = (a, b) {
            both += usize::from(first == second);
            a = if first <= second { rest } else { a };
            b = if second <= first { others } else { b };
        }
        jaccard_of(self.sorted.len(), other.sorted.len(), both)
    }

    /// An upper bound of [`Grams::jaccard`]. Each bit that the smaller set has and the larger one lacks is at least one
    /// n-gram that they do not share.
    pub(super) fn at_most(&self, other: &Self) -> f64 {
        let (small, large) = if self.sorted.len() <= other.sorted.len() {
            (self, other)
        } else {
            (other, self)
        };
        let bits = small.bitmap.iter().zip(&large.bitmap);
        let lacking: u32 = bits.map(|(a, b)| (a & !b).count_ones()).sum();
        let both = small.sorted.len() - lacking as usize;
        jaccard_of(small.sorted.len(), large.sorted.len(), both)
    }
}

/// The Jaccard index of two sets by their sizes and the size of their intersection.
pub(super) fn jaccard_of(one: usize, other: usize, both: usize) -> f64 {
    if both == 0 {
        return 0.0;
    }
    both as f64 / (one + other - both) as f64
}

/// The number of n-grams of the fragment, and of the errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sizes {
    pub(super) ngrams: usize,
    pub(super) errors: usize,
}

/// The n-grams of a segment, of the fragment and of the errors.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) ngrams: Grams,
    pub(super) errors: Grams,
}

impl Features {
    pub(crate) fn of(segment: &Segment) -> Self {
        Self {
            ngrams: Grams::new(NGRAM, &segment.ngrams()),
            errors: Grams::new("error", &segment.error_ngrams()),
        }
    }

    /// All features, each with whether it is of an error.
    pub(super) fn all(&self) -> impl Iterator<Item = (Feature, bool)> {
        let ngrams = self.ngrams.sorted.iter().map(|feature| (*feature, false));
        ngrams.chain(self.errors.sorted.iter().map(|feature| (*feature, true)))
    }

    /// All features in any order, each with the sizes of the whole segment: the prefix of a segment that is not indexed.
    pub(super) fn unordered(&self) -> Vec<(Feature, Sizes)> {
        let sizes = self.sizes();
        self.all().map(|(feature, _)| (feature, sizes)).collect()
    }

    pub(super) fn sizes(&self) -> Sizes {
        Sizes {
            ngrams: self.ngrams.sorted.len(),
            errors: self.errors.sorted.len(),
        }
    }

    /// Whether the segment has all n-grams that name a tool.
    pub(super) fn mention(&self, tool: &Named) -> bool {
        let mut named = tool.ngrams.iter();
        !tool.ngrams.is_empty() && named.all(|one| self.ngrams.sorted.binary_search(one).is_ok())
    }
}

/// A tool, and the n-grams that name it in a text.
#[derive(Debug)]
pub(super) struct Named {
    tool: String,
    ngrams: Vec<Feature>,
}

impl Named {
    pub(super) fn new(tool: &str) -> Self {
        let words = content_words(tool);
        let named_by = ngrams(&words).map(|text| feature(NGRAM, &text));
        Self {
            tool: tool.to_owned(),
            ngrams: named_by.collect(),
        }
    }

    pub(super) fn name(&self) -> &String {
        &self.tool
    }
}

const NGRAM: &str = "ngram";

fn feature(kind: &str, text: &str) -> Feature {
    let mut hasher = DefaultHasher::new();
    (kind, text).hash(&mut hasher);
    hasher.finish()
}
