//! Selecting the highest scores.

use tantivy::{DocId, SegmentReader};

/// A document's place: the index of its segment, and its id within the segment.
pub(crate) type Place = (usize, DocId);

/// The places with the highest scores: at least `limit`, if there are as many, and all that tie with the last one, so
/// that the order of skill ids decides and not the place.
pub(crate) struct Best {
    limit: usize,
    /// The minimum score that can still be among the best.
    bar: f64,
    found: Vec<(f64, Place)>,
    /// The number of entries at which the lowest are dropped.
    full: usize,
}

impl Best {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            bar: 0.0,
            found: Vec::new(),
            full: limit.saturating_mul(2).max(64),
        }
    }

    /// Adds a segment's live documents that hold a query word and are allowed.
    pub(crate) fn take_segment(
        &mut self,
        at: usize,
        segment: &SegmentReader,
        scores: &[f64],
        allowed: Option<&[bool]>,
    ) {
        for (document, score) in (0..).zip(scores) {
            if *score > 0.0
                && *score >= self.bar
                && !segment.is_deleted(document)
                && allowed.is_none_or(|allowed| allowed.get(document as usize) == Some(&true))
            {
                self.found.push((*score, (at, document)));
                if self.found.len() >= self.full {
                    self.drop_worst();
                }
            }
        }
    }

    fn drop_worst(&mut self) {
        if self.found.len() > self.limit {
            let (_, (last, _), _) = (self.found)
                .select_nth_unstable_by(self.limit - 1, |(a, _), (b, _)| b.total_cmp(a));
            self.bar = *last;
            let bar = self.bar;
            self.found.retain(|(score, _)| *score >= bar);
        }
        self.full = self.full.max(self.found.len().saturating_mul(2));
    }

    pub(crate) fn into_places(mut self) -> Vec<(f64, Place)> {
        self.drop_worst();
        self.found
    }
}
