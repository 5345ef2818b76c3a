//! The retriever.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use async_trait::async_trait;
use journeyman::{
    Error, Result, Revision, SkillId, Version,
    contract::Retriever,
    domain::{Candidate, IndexUpdate, Query, SkillRef},
};
use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyError,
    indexer::IndexWriterOptions,
};

use crate::{
    Config,
    bm25::{self, Place},
    convert::{Fields, ID, VERSION, error},
    words::words,
};

/// BM25 over the name, description, trigger and body of each skill.
///
/// The index lies in memory and is derived state: make a new one and [`refresh`](Retriever::refresh) it from the library
/// at any time. A skill's state is not looked at; the caller says with [`Query::among`] what may be offered, and
/// document frequencies are those of the whole library whatever it says. One writing thread and one merging thread
/// belong to each retriever and end with it; searching starts none.
pub struct Bm25Retriever {
    config: Config,
    fields: Fields,
    writing: Mutex<Writing>,
    view: RwLock<Arc<View>>,
}

struct Writing {
    writer: IndexWriter,
    reader: IndexReader,
    watermark: Revision,
}

/// What searches see: the index as of one refresh.
struct View {
    searcher: Searcher,
    mean_lengths: [f64; 4],
}

impl View {
    fn of(searcher: Searcher, fields: &Fields) -> Result<Self, TantivyError> {
        let mut mean_lengths = [0.0; 4];
        for (mean, field) in mean_lengths.iter_mut().zip(fields.texts) {
            *mean = bm25::mean_length(&searcher, field)?;
        }
        Ok(Self {
            searcher,
            mean_lengths,
        })
    }
}

impl Bm25Retriever {
    /// An empty index.
    ///
    /// # Errors
    /// `Invalid` for an option out of range; `Unavailable` when a thread could not be started.
    pub fn new(config: Config) -> Result<Self> {
        config.check()?;
        let (schema, fields) = Fields::schema();
        Self::open(config, fields, || {
            Index::builder().schema(schema).create_in_ram()
        })
        .map_err(|source| error("Bm25Retriever::new", source))
    }

    /// Where a directory on disk will come in: all that differs is how the index is made.
    fn open(
        config: Config,
        fields: Fields,
        index: impl FnOnce() -> Result<Index, TantivyError>,
    ) -> Result<Self, TantivyError> {
        let index = index()?;
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer = index.writer_with_options(options)?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        let view = View::of(reader.searcher(), &fields)?;
        Ok(Self {
            config,
            fields,
            writing: Mutex::new(Writing {
                writer,
                reader,
                watermark: Revision(0),
            }),
            view: RwLock::new(Arc::new(view)),
        })
    }

    fn take_in(&self, update: &IndexUpdate) -> Result<()> {
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if update.since > writing.watermark {
            return Err(
                Error::invalid("Retriever::refresh", "the update leaves a gap")
                    .with("since", update.since)
                    .with("watermark", writing.watermark)
                    .hint("ask the library for what changed since the watermark"),
            );
        }
        if update.revision <= writing.watermark {
            return Ok(());
        }
        let mut edits = Vec::with_capacity(update.changed.len() + update.gone.len());
        for skill in &update.changed {
            let document = self.fields.document(skill)?;
            edits.push((self.fields.key(skill.id.as_str()), Some(document)));
        }
        for id in &update.gone {
            edits.push((self.fields.key(id.as_str()), None));
        }
        if !edits.is_empty() {
            let view = writing
                .replace(edits, update.revision)
                .and_then(|searcher| View::of(searcher, &self.fields))
                .map_err(|source| error("Retriever::refresh", source))?;
            *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        }
        writing.watermark = update.revision;
        Ok(())
    }

    fn find(&self, query: &Query) -> Result<Vec<Candidate>, TantivyError> {
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let view = Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner));
        let allowed = match &query.among {
            None => None,
            Some(ids) => Some(self.places(&view.searcher, ids)?),
        };
        let mut scored: Vec<_> = self
            .score(&view, &query.text)?
            .into_iter()
            .filter(|(place, _)| {
                allowed
                    .as_ref()
                    .is_none_or(|allowed| allowed.contains(place))
            })
            .map(|(place, score)| (score, place))
            .collect();
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        // All that tie with the last one are named before the cut, so that ids decide and not places.
        if let Some((last, _)) = scored.get(query.limit - 1).copied() {
            scored.truncate(scored.partition_point(|(score, _)| *score >= last));
        }
        let mut candidates = named(&view.searcher, &scored)?;
        candidates.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.skill.cmp(&b.skill))
        });
        candidates.truncate(query.limit);
        Ok(candidates)
    }

    /// The score of each live document that holds a word of the text.
    fn score(&self, view: &View, text: &str) -> Result<HashMap<Place, f64>, TantivyError> {
        let Config { k1, b, .. } = self.config;
        let live = view.searcher.num_docs();
        let boosts = self.config.boosts.in_order();
        let mut scores = HashMap::new();
        for word in distinct(words(text), self.config.max_query_words) {
            for ((field, boost), mean) in self
                .fields
                .texts
                .into_iter()
                .zip(boosts)
                .zip(view.mean_lengths)
            {
                if boost == 0.0 {
                    continue;
                }
                let term = tantivy::Term::from_field_text(field, &word);
                let postings = bm25::postings(&view.searcher, &term)?;
                let weight = boost * bm25::inverse_frequency(live, postings.len());
                for posting in postings {
                    *scores.entry(posting.place).or_insert(0.0) +=
                        weight * bm25::saturation(k1, b, posting.count, posting.length, mean);
                }
            }
        }
        Ok(scores)
    }

    /// Where these skills are, those that are there.
    fn places(&self, searcher: &Searcher, ids: &[SkillId]) -> Result<HashSet<Place>, TantivyError> {
        let mut places = HashSet::new();
        for id in ids {
            let postings = bm25::postings(searcher, &self.fields.key(id.as_str()))?;
            places.extend(postings.into_iter().map(|posting| posting.place));
        }
        Ok(places)
    }
}

/// A document to put in the place of what has this key, or none.
type Edit = (tantivy::Term, Option<tantivy::TantivyDocument>);

impl Writing {
    /// Replaces documents by their keys. The watermark goes into the same commit, so that an index that is opened
    /// again knows how far it is.
    fn replace(&mut self, edits: Vec<Edit>, watermark: Revision) -> Result<Searcher, TantivyError> {
        if let Err(failure) = self.commit(edits, watermark) {
            // What was half done must not go out with the next commit.
            self.writer.rollback()?;
            return Err(failure);
        }
        self.reader.reload()?;
        Ok(self.reader.searcher())
    }

    fn commit(&mut self, edits: Vec<Edit>, watermark: Revision) -> Result<(), TantivyError> {
        for (key, document) in edits {
            self.writer.delete_term(key);
            if let Some(document) = document {
                self.writer.add_document(document)?;
            }
        }
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&watermark.to_string());
        commit.commit()?;
        Ok(())
    }
}

/// The first `most` different words. A word that a query repeats counts once: turns repeat what tools printed.
fn distinct(words: Vec<String>, most: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    words
        .into_iter()
        .filter(|word| seen.insert(word.clone()))
        .take(most)
        .collect()
}

/// The skills at these places.
fn named(searcher: &Searcher, scored: &[(f64, Place)]) -> Result<Vec<Candidate>, TantivyError> {
    let mut candidates = Vec::with_capacity(scored.len());
    for &(score, (segment, document)) in scored {
        let columns = searcher.segment_reader(segment as u32).fast_fields();
        let missing = || TantivyError::SchemaError("a document has no id or version".to_owned());
        let ids = columns.str(ID)?.ok_or_else(missing)?;
        let ord = ids.term_ords(document).next().ok_or_else(missing)?;
        let mut id = String::new();
        ids.ord_to_str(ord, &mut id)?;
        let version = columns.u64(VERSION)?.first(document).ok_or_else(missing)?;
        let skill = SkillRef {
            id: SkillId::new(id),
            version: Version(version),
        };
        candidates.push(Candidate { skill, score });
    }
    Ok(candidates)
}

#[async_trait]
impl Retriever for Bm25Retriever {
    async fn watermark(&self) -> Result<Revision> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(writing.watermark)
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        self.take_in(update)
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        self.find(query)
            .map_err(|source| error("Retriever::search", source))
    }
}

impl fmt::Debug for Bm25Retriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Bm25Retriever")
            .field("config", &self.config)
            .field("skills", &view.searcher.num_docs())
            .finish_non_exhaustive()
    }
}
