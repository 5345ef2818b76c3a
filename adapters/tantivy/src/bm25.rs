//! The arithmetic: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), 3.4,
//! with the inverse document frequency of Lucene and tantivy, which is never negative.

use tantivy::{
    DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyError, Term,
    postings::Postings,
    schema::{Field, IndexRecordOption},
};

/// Where a document is: its segment's place and its place there.
pub(crate) type Place = (usize, DocId);

/// A live document that holds a word in a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posting {
    pub(crate) place: Place,
    pub(crate) count: u32,
    /// The field's length in words, as exact as tantivy keeps it (exact up to 40).
    pub(crate) length: u32,
}

/// The live documents that hold a word in a field.
pub(crate) fn postings(searcher: &Searcher, term: &Term) -> Result<Vec<Posting>, TantivyError> {
    let mut found = Vec::new();
    for (place, segment) in searcher.segment_readers().iter().enumerate() {
        let index = segment.inverted_index(term.field())?;
        let Some(mut list) = index.read_postings(term, IndexRecordOption::WithFreqs)? else {
            continue;
        };
        let lengths = segment.get_fieldnorms_reader(term.field())?;
        while list.doc() != TERMINATED {
            let document = list.doc();
            if !segment.is_deleted(document) {
                found.push(Posting {
                    place: (place, document),
                    count: list.term_freq(),
                    length: lengths.fieldnorm(document),
                });
            }
            list.advance();
        }
    }
    Ok(found)
}

/// The mean length of a field over live documents; 0 when there are none. Lengths are whole numbers, so the mean does
/// not depend on the order in which they are added.
pub(crate) fn mean_length(searcher: &Searcher, field: Field) -> Result<f64, TantivyError> {
    let mut sum = 0_u64;
    for segment in searcher.segment_readers() {
        sum += total_length(segment, field)?;
    }
    let live = searcher.num_docs();
    Ok(if live == 0 {
        0.0
    } else {
        sum as f64 / live as f64
    })
}

fn total_length(segment: &SegmentReader, field: Field) -> Result<u64, TantivyError> {
    let lengths = segment.get_fieldnorms_reader(field)?;
    Ok(segment
        .doc_ids_alive()
        .map(|document| u64::from(lengths.fieldnorm(document)))
        .sum())
}

/// How much a word tells that `holders` of `live` documents hold.
pub(crate) fn inverse_frequency(live: u64, holders: usize) -> f64 {
    let (live, holders) = (live as f64, holders as f64);
    (1.0 + (live - holders + 0.5) / (holders + 0.5)).ln()
}

/// How much a word counts that occurs `count` times in a field of this length, in [0, k1 + 1].
pub(crate) fn saturation(k1: f64, b: f64, count: u32, length: u32, mean_length: f64) -> f64 {
    let (count, length) = (f64::from(count), f64::from(length));
    let relative = if mean_length > 0.0 {
        length / mean_length
    } else {
        1.0
    };
    count * (k1 + 1.0) / (count + k1 * (1.0 - b + b * relative))
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

    #[test]
    fn saturation_by_hand() {
        near(saturation(1.2, 0.75, 1, 10, 10.0), 1.0);
        near(saturation(1.2, 0.75, 2, 20, 10.0), 4.4 / (2.0 + 1.2 * 1.75));
        near(saturation(1.2, 0.0, 3, 99, 10.0), 6.6 / 4.2);
        near(saturation(0.0, 0.75, 7, 5, 10.0), 1.0);
    }
}
