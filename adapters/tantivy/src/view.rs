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
    Searcher, SegmentReader, TantivyError, Term,
    columnar::StrColumn,
    index::SegmentId,
    schema::{Field, IndexRecordOption},
};

use crate::{
    Config,
    best::{Best, Place},
    bm25::{self, Lengths, Scoring},
    convert::{Fields, ID, VERSION},
    kin::{Compounds, compounds, has_kin, split},
    words::words,
};

/// The share of its own weight that a compound counts: mostly it stands behind what has the word itself. With 0.5, English
/// names in words found a right skill first in 0.88 of cases in place of 0.95.
const KIN: f64 = 0.1;
/// The most words of a query for which compounds are looked for.
const MOST_WITH_KIN: usize = 16;

pub(crate) struct View {
    fields: Fields,
    searcher: Searcher,
    lengths: Vec<Lengths>,
    segments: Vec<Segment>,
    /// A buffer for scores, reused by the next search.
    room: Mutex<Vec<f64>>,
}

/// A segment's id, its skill ids in the order of its dictionary, and its long words. The dictionaries of a segment never change, so
/// later views share both.
struct Segment {
    id: SegmentId,
    ids: Arc<OnceLock<Vec<SkillId>>>,
    compounds: Arc<OnceLock<Compounds>>,
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
            .map(|segment| {
                let known: Option<&Segment> = known(segment.segment_id());
                Segment {
                    id: segment.segment_id(),
                    ids: known.map_or_else(Arc::default, |one| one.ids.clone()),
                    compounds: known.map_or_else(Arc::default, |one| one.compounds.clone()),
                }
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
            candidates.push(Candidate::new(skill, score));
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
        let fields = self.fields.texts.into_iter().enumerate();
        let fields: Vec<(usize, Field)> = fields.filter(|(at, _)| boosts[*at] > 0.0).collect();
        let searched: Vec<Field> = fields.iter().map(|(_, field)| *field).collect();
        // The rarity of a word in each searched field that has it.
        let rarities = |word: &str| -> Result<Vec<Option<f64>>, TantivyError> {
            let of = |field: &Field| self.rarity(*field, word);
            searched.iter().map(of).collect()
        };
        let mut glued = None;
        let mut left = MOST_WITH_KIN;
        for word in distinct(words(text, config.stemmer), config.max_query_words) {
            let of_word = rarities(&word)?;
            let mut add = |word: &str, rarities: &[Option<f64>], share: f64| {
                for ((at, field), rarity) in fields.iter().zip(rarities) {
                    if let Some(rarity) = rarity {
                        let weight = share * boosts[*at] * rarity * (config.k1 + 1.0);
                        weighted_terms.push((*at, Term::from_field_text(*field, word), weight));
                    }
                }
            };
            add(&word, &of_word, 1.0);
            if left == 0 || !has_kin(&word) {
                continue;
            }
            left -= 1;
            let glued: &Vec<_> = match &mut glued {
                Some(glued) => glued,
                none => none.insert(self.compounds()?),
            };
            let is_held = |word: &str| Ok(rarities(word)?.iter().any(Option::is_some));
            let mut kin = compounds(glued, &word, is_held)?;
            if of_word.iter().all(Option::is_none) {
                kin.extend(split(&self.searcher, &searched, &word)?);
            }
            let rarest = of_word.iter().copied().flatten().reduce(f64::max);
            for one in kin {
                // Each rarer than the word itself, all of its compounds would count for more than the word.
                let capped = rarities(&one)?.into_iter().zip(&of_word);
                let capped = capped.map(|(one, word)| {
                    let most = word.or(rarest).unwrap_or(f64::MAX);
                    Some(one?.min(most))
                });
                add(&one, &capped.collect::<Vec<_>>(), KIN);
            }
        }
        Ok(weighted_terms)
    }

    /// How rare a word is in a field; `None` where no skill has it there.
    fn rarity(&self, field: Field, word: &str) -> Result<Option<f64>, TantivyError> {
        let term = Term::from_field_text(field, word);
        let mut holders = 0;
        for segment in self.searcher.segment_readers() {
            holders += bm25::holders(segment, &term)?;
        }
        Ok((holders > 0).then(|| bm25::inverse_frequency(self.skills(), holders)))
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

    /// The long words of each segment.
    fn compounds(&self) -> Result<Vec<&Compounds>, TantivyError> {
        let mut all = Vec::with_capacity(self.segments.len());
        for (at, segment) in self.segments.iter().enumerate() {
            if segment.compounds.get().is_none() {
                let reader = self.searcher.segment_reader(at as u32);
                let found = Compounds::of(reader, &self.fields.texts)?;
                segment.compounds.get_or_init(|| found);
            }
            all.extend(segment.compounds.get());
        }
        Ok(all)
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
