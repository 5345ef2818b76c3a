//! BM25 scores: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), 3.4, with the
//! inverse document frequency of Lucene and tantivy, which is never negative.

use tantivy::{
    DocId, Searcher, SegmentReader, TantivyError, Term,
    fieldnorm::FieldNormReader,
    postings::BlockSegmentPostings,
    schema::{Field, IndexRecordOption},
};

/// The damping of word counts by text length, for each length that tantivy distinguishes (exact up to 40 words).
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    damping: [f64; 256],
}

impl Lengths {
    /// For a field with mean length `mean` over live documents, in words.
    pub(crate) fn new(k1: f64, b: f64, mean: f64) -> Self {
        let damping = std::array::from_fn(|id| {
            let length = f64::from(FieldNormReader::id_to_fieldnorm(id as u8));
            let relative = if mean > 0.0 { length / mean } else { 1.0 };
            k1 * (1.0 - b + b * relative)
        });
        Self { damping }
    }
}

/// The mean length of a field over live documents; 0 when there are none. Lengths are whole numbers, so the mean does
/// not depend on the order in which they are added.
pub(crate) fn mean_length(searcher: &Searcher, field: Field) -> Result<f64, TantivyError> {
    let mut sum = 0_u64;
    for segment in searcher.segment_readers() {
        let lengths = segment.get_fieldnorms_reader(field)?;
        let live = segment.doc_ids_alive();
        sum += live
            .map(|document| u64::from(lengths.fieldnorm(document)))
            .sum::<u64>();
    }
    let live = searcher.num_docs();
    Ok(if live == 0 {
        0.0
    } else {
        sum as f64 / live as f64
    })
}

/// The inverse document frequency of a word that `holders` of `live` documents hold.
pub(crate) fn inverse_frequency(live: u64, holders: u64) -> f64 {
    let (live, holders) = (live as f64, holders as f64);
    (1.0 + (live - holders + 0.5) / (holders + 0.5)).ln()
}

/// The number of live documents of a segment that hold a word. tantivy stores the number over all documents; where some
/// were replaced, the posting list is read.
pub(crate) fn holders(segment: &SegmentReader, term: &Term) -> Result<u64, TantivyError> {
    let index = segment.inverted_index(term.field())?;
    let Some(info) = index.get_term_info(term)? else {
        return Ok(0);
    };
    let Some(alive) = segment.alive_bitset() else {
        return Ok(u64::from(info.doc_freq));
    };
    let mut list = index.read_block_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
    let mut holders = 0;
    while list.block_len() > 0 {
        holders += list.docs().iter().filter(|at| alive.is_alive(**at)).count();
        list.advance();
    }
    Ok(holders as u64)
}

/// The score of one word in one field of a segment.
pub(crate) struct Scoring<'a> {
    /// Its boost, times its inverse document frequency, times k1 + 1.
    pub(crate) weight: f64,
    pub(crate) lengths: &'a Lengths,
    pub(crate) norms: FieldNormReader,
}

impl Scoring<'_> {
    /// The score of a word that occurs `count` times in a document, in [0, weight].
    fn value(&self, document: DocId, count: u32) -> f64 {
        let count = f64::from(count);
        let damping = self.lengths.damping[usize::from(self.norms.fieldnorm_id(document))];
        self.weight * (count / (count + damping))
    }

    /// Adds the word to the scores of all documents that hold it, live or not.
    pub(crate) fn add_all(&self, mut list: BlockSegmentPostings, scores: &mut [f64]) {
        while list.block_len() > 0 {
            for (document, count) in list.docs().iter().zip(list.freqs()) {
                if let Some(score) = scores.get_mut(*document as usize) {
                    *score += self.value(*document, *count);
                }
            }
            list.advance();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expect: f64) {
        assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
    }

    #[test]
    fn inverse_frequency_falls_and_stays_positive() {
        near(inverse_frequency(1, 1), (4.0_f64 / 3.0).ln());
        near(inverse_frequency(10, 1), (1.0 + 9.5 / 1.5_f64).ln());
        assert!(inverse_frequency(10, 2) < inverse_frequency(10, 1));
        assert!(inverse_frequency(10, 10) > 0.0);
    }

    fn saturation(k1: f64, b: f64, count: u32, length: u32, mean: f64) -> f64 {
        let scoring = Scoring {
            weight: k1 + 1.0,
            lengths: &Lengths::new(k1, b, mean),
            norms: FieldNormReader::constant(1, length),
        };
        scoring.value(0, count)
    }

    #[test]
    fn saturation_by_hand() {
        near(saturation(1.2, 0.75, 1, 10, 10.0), 1.0);
        near(saturation(1.2, 0.75, 2, 20, 10.0), 4.4 / (2.0 + 1.2 * 1.75));
        near(saturation(1.2, 0.0, 3, 40, 10.0), 6.6 / 4.2);
        near(saturation(0.0, 0.75, 7, 5, 10.0), 1.0);
    }
}
