//! The inverted index over n-grams and errors, and the pass over embeddings.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    contract::dot,
    papers::hisme::overlap::{
        OverlapOptions,
        features::{Feature, Features, Sizes, jaccard_of},
    },
};

/// The index of a segment among the graph's nodes.
pub(super) type Slot = u32;

/// Tolerance for rounding in the comparison of bounds.
const ROUNDING: f64 = 1e-9;

/// The inverted index: each segment is listed under the n-grams of its prefix.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The number of segments with each n-gram when the index was built. A later n-gram counts as rarer than all others.
    frequency: Arc<HashMap<Feature, u32>>,
    /// By feature and by the sizes of the segments, so that segments of a size that cannot reach the threshold are skipped.
    postings: HashMap<Feature, BTreeMap<Sizes, Vec<Slot>>>,
}

/// The slots that the present lookup has met.
#[derive(Clone, Debug, Default)]
pub(super) struct Met {
    /// For each slot, the last lookup that met it.
    last: Vec<u64>,
    lookups: u64,
}

impl Met {
    /// Whether the present lookup meets a slot for the first time.
    fn is_new(&mut self, slot: Slot) -> bool {
        let at = slot as usize;
        if self.last.len() <= at {
            self.last.resize(at + 1, 0);
        }
        std::mem::replace(&mut self.last[at], self.lookups) != self.lookups
    }
}

impl Index {
    /// An empty index with the frequencies of the n-grams of these segments.
    pub(super) fn for_segments<'a>(segments: impl Iterator<Item = &'a Features>) -> Self {
        let mut frequency: HashMap<Feature, u32> = HashMap::new();
        for feature in segments.flat_map(|features| features.all().map(|(feature, _)| feature)) {
            *frequency.entry(feature).or_default() += 1;
        }
        Self {
            frequency: Arc::new(frequency),
            ..Self::default()
        }
    }

    /// The prefix of a segment: the n-grams by which it is indexed and looked up, where words must bring a weight of at least
    /// `need`. The most frequent n-grams are left out as far as they cannot bring it together. Each n-gram has the sizes of
    /// the segment from that n-gram on.
    pub(super) fn prefix(
        &self,
        features: &Features,
        options: &OverlapOptions,
        need: f64,
    ) -> Vec<(Feature, Sizes)> {
        let ranked = features.all();
        let ranked = ranked.map(|(one, is_error)| (self.frequency.get(&one), one, is_error));
        let mut all: Vec<(Option<&u32>, Feature, bool)> = ranked.collect();
        // An n-gram of the fragment and one of an error are never the same feature.
        all.sort_unstable();
        let mut left = features.sizes();
        let from_here = all.into_iter().map(|(_, feature, is_error)| {
            let here = (feature, left);
            left.ngrams -= usize::from(!is_error);
            left.errors -= usize::from(is_error);
            here
        });
        // The greatest overlap is with a segment that has only the features that are left.
        let suffices = |left: Sizes| most(features, left, left, options) >= need - ROUNDING;
        from_here.take_while(|(_, left)| suffices(*left)).collect()
    }

    pub(super) fn add(&mut self, slot: Slot, features: &Features, prefix: &[(Feature, Sizes)]) {
        for (feature, _) in prefix {
            let by_size = self.postings.entry(*feature).or_default();
            by_size.entry(features.sizes()).or_default().push(slot);
        }
    }

    pub(super) fn remove(&mut self, slot: Slot, features: &Features, prefix: &[(Feature, Sizes)]) {
        let sizes = features.sizes();
        for (feature, _) in prefix {
            let Some(by_size) = self.postings.get_mut(feature) else {
                continue;
            };
            if let Some(slots) = by_size.get_mut(&sizes) {
                slots.retain(|other| *other != slot);
                if slots.is_empty() {
                    by_size.remove(&sizes);
                }
            }
            if by_size.is_empty() {
                self.postings.remove(feature);
            }
        }
    }

    /// The segments that share an n-gram of a prefix and whose words may bring `need` if that n-gram is the rarest shared one;
    /// each once.
    pub(super) fn candidates(
        &self,
        features: &Features,
        prefix: &[(Feature, Sizes)],
        options: &OverlapOptions,
        need: f64,
        met: &mut Met,
    ) -> Vec<Slot> {
        met.lookups += 1;
        let mut found = Vec::new();
        for (feature, left) in prefix {
            for (sizes, slots) in self.postings.get(feature).into_iter().flatten() {
                if most(features, *left, *sizes, options) < need - ROUNDING {
                    continue;
                }
                found.extend(slots.iter().filter(|slot| met.is_new(**slot)));
            }
        }
        found
    }
}

/// The greatest weight that words bring where at most `left` is shared with a segment of the sizes `other`.
fn most(features: &Features, left: Sizes, other: Sizes, options: &OverlapOptions) -> f64 {
    let own = features.sizes();
    let ngrams = jaccard_of(own.ngrams, other.ngrams, left.ngrams.min(other.ngrams));
    let errors = jaccard_of(own.errors, other.errors, left.errors.min(other.errors));
    options.weigh(ngrams, 0.0, errors).weight
}

/// The embeddings in one contiguous matrix, a row for each slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Dense {
    slots: Vec<Slot>,
    rows: Vec<f32>,
}

impl Dense {
    pub(super) fn add(&mut self, slot: Slot, row: &[f32]) {
        self.slots.push(slot);
        self.rows.extend(row);
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        let Some(at) = self.slots.iter().position(|other| *other == slot) else {
            return;
        };
        let width = self.rows.len() / self.slots.len();
        let last = self.rows.len() - width;
        self.rows.copy_within(last.., at * width);
        self.rows.truncate(last);
        self.slots.swap_remove(at);
    }

    /// The slots whose cosine with `row` is at least `least`, with the cosine.
    pub(super) fn near(&self, row: &[f32], least: f64) -> Vec<(Slot, f64)> {
        let rows = self.slots.iter().zip(self.rows.chunks_exact(row.len()));
        rows.map(|(slot, other)| (*slot, f64::from(dot(row, other))))
            .filter(|(_, cosine)| *cosine >= least)
            .collect()
    }
}
