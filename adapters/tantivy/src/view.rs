//! The view of a search: the index as of one refresh.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use journeyman::{
    SkillId, Version,
    domain::{Candidate, Query, SkillRef},
};
use tantivy::{
    Searcher, SegmentReader, TantivyError, Term, columnar::StrColumn, index::SegmentId,
    schema::IndexRecordOption,
};

use crate::{
    Config,
    best::{Best, Place},
    bm25::{self, Lengths, Scoring},
    convert::{Fields, ID, VERSION},
    words::words,
};

pub(crate) struct View {
    fields: Fields,
    searcher: Searcher,
    lengths: Vec<Lengths>,
    segments: Vec<Segment>,
    /// A buffer for scores, reused by the next search.
    room: Mutex<Vec<f64>>,
}

/// A segment's id and its skill ids, in the order of its dictionary. The dictionary of a segment never changes, so
/// later views share the ids.
struct Segment {
    id: SegmentId,
    ids: Arc<OnceLock<Vec<SkillId>>>,
}

impl View {
    pub(crate) fn of(
        searcher: Searcher,
        fields: Fields,
        config: &Config,
        before: Option<&Self>,
    ) -> Result<Self, TantivyError> {
        let lengths = fields.texts.iter().map(|field| {
            let mean = bm25::mean_length(&searcher, *field)?;
            Ok(Lengths::new(config.k1, config.b, mean))
        });
        let lengths = lengths.collect::<Result<_, TantivyError>>()?;
        let known = |id| before.and_then(|view| view.segments.iter().find(|one| one.id == id));
        let segments = (searcher.segment_readers().iter())
            .map(|segment| Segment {
                id: segment.segment_id(),
                ids: known(segment.segment_id()).map_or_else(Arc::default, |one| one.ids.clone()),
            })
            .collect();
        Ok(Self {
            fields,
            lengths,
            segments,
            searcher,
            room: Mutex::default(),
        })
    }

    /// The number of skills.
    pub(crate) fn skills(&self) -> u64 {
        self.searcher.num_docs()
    }

    pub(crate) fn find(
        &self,
        query: &Query,
        config: &Config,
    ) -> Result<Vec<Candidate>, TantivyError> {
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let words = self.weighted_terms(&query.text, config)?;
        let among = query.among.as_ref().map(|among| {
            let mut among: Vec<&SkillId> = among.iter().collect();
            among.sort_unstable();
            among
        });
        let mut room =
            std::mem::take(&mut *self.room.lock().unwrap_or_else(PoisonError::into_inner));
        let mut best = Best::new(query.limit);
        for at in 0..self.segments.len() {
            let segment = self.searcher.segment_reader(at as u32);
            room.clear();
            room.resize(segment.max_doc() as usize, 0.0);
            self.score(segment, &words, &mut room)?;
            let allowed = match &among {
                None => None,
                Some(among) => Some(self.allowed(at, among)?),
            };
            best.take_segment(at, segment, &room, allowed.as_deref());
        }
        *self.room.lock().unwrap_or_else(PoisonError::into_inner) = room;
        let mut candidates = Vec::new();
        for (score, place) in best.into_places() {
            let skill = self.skill_at(place)?;
            candidates.push(Candidate { skill, score });
        }
        candidates.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.skill.cmp(&b.skill))
        });
        candidates.truncate(query.limit);
        Ok(candidates)
    }

    /// Each query word in each searched field with its weight, in the order in which the scores are added.
    fn weighted_terms(
        &self,
        text: &str,
        config: &Config,
    ) -> Result<Vec<(usize, Term, f64)>, TantivyError> {
        let mut weighted_terms = Vec::new();
        let boosts = config.boosts.in_order();
        for word in distinct(words(text), config.max_query_words) {
            for (at, field) in self.fields.texts.into_iter().enumerate() {
                if boosts[at] == 0.0 {
                    continue;
                }
                let term = Term::from_field_text(field, &word);
                let mut holders = 0;
                for segment in self.searcher.segment_readers() {
                    holders += bm25::holders(segment, &term)?;
                }
                if holders > 0 {
                    let rarity = bm25::inverse_frequency(self.skills(), holders);
                    weighted_terms.push((at, term, boosts[at] * rarity * (config.k1 + 1.0)));
                }
            }
        }
        Ok(weighted_terms)
    }

    fn score(
        &self,
        segment: &SegmentReader,
        words: &[(usize, Term, f64)],
        scores: &mut [f64],
    ) -> Result<(), TantivyError> {
        for (at, term, weight) in words {
            let index = segment.inverted_index(term.field())?;
            let Some(list) = index.read_block_postings(term, IndexRecordOption::WithFreqs)? else {
                continue;
            };
            let scoring = Scoring {
                weight: *weight,
                lengths: &self.lengths[*at],
                norms: segment.get_fieldnorms_reader(term.field())?,
            };
            scoring.add_all(list, scores);
        }
        Ok(())
    }

    /// For each document of a segment, whether its skill is in `among`, which is sorted.
    fn allowed(&self, at: usize, among: &[&SkillId]) -> Result<Vec<bool>, TantivyError> {
        let ids = self.ids(at)?;
        let mut is_in = vec![false; ids.len()];
        let mut from = 0;
        for wanted in among {
            // Both lists are sorted: the next id is searched from here on, in steps that double.
            let mut step = 1;
            while ids.get(from + step).is_some_and(|id| id < *wanted) {
                from += step;
                step *= 2;
            }
            let end = ids.len().min(from + step + 1);
            let Some(rest) = ids.get(from..end) else {
                break;
            };
            from += rest.partition_point(|id| id < *wanted);
            if ids.get(from) == Some(*wanted) {
                is_in[from] = true;
            }
        }
        let column = self.id_column(at)?;
        let segment = self.searcher.segment_reader(at as u32);
        let is_allowed = |document| {
            let ord = column.ords().first(document);
            ord.is_some_and(|ord| is_in.get(ord as usize) == Some(&true))
        };
        Ok((0..segment.max_doc()).map(is_allowed).collect())
    }

    /// The skill at a place.
    fn skill_at(&self, (at, document): Place) -> Result<SkillRef, TantivyError> {
        let columns = self.searcher.segment_reader(at as u32).fast_fields();
        let ord = self.id_column(at)?.ords().first(document);
        let id = ord.and_then(|ord| self.ids(at).ok()?.get(ord as usize).cloned());
        let version = columns.u64(VERSION)?.first(document);
        Ok(SkillRef {
            id: id.ok_or_else(missing)?,
            version: Version(version.ok_or_else(missing)?),
        })
    }

    fn id_column(&self, at: usize) -> Result<StrColumn, TantivyError> {
        let columns = self.searcher.segment_reader(at as u32).fast_fields();
        columns.str(ID)?.ok_or_else(missing)
    }

    /// The skill ids of a segment, in order.
    fn ids(&self, at: usize) -> Result<&[SkillId], TantivyError> {
        let kept = &self.segments[at].ids;
        if kept.get().is_none() {
            let column = self.id_column(at)?;
            let mut ids = Vec::with_capacity(column.num_terms());
            let mut stream = column.dictionary().stream()?;
            while stream.advance() {
                ids.push(SkillId::new(String::from_utf8_lossy(stream.key())));
            }
            kept.get_or_init(|| ids);
        }
        kept.get().map(Vec::as_slice).ok_or_else(missing)
    }
}

fn missing() -> TantivyError {
    TantivyError::SchemaError("a document has no id or version".to_owned())
}

/// The first `most` different words. A repeated word counts once: agents' turns repeat the output of tools.
fn distinct(words: Vec<String>, most: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    words
        .into_iter()
        .filter(|word| seen.insert(word.clone()))
        .take(most)
        .collect()
}
