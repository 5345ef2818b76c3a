//! Retrieval by embeddings.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashSet},
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;
use futures::lock::Mutex;
use serde::{Deserialize, Serialize};

use crate::{
    contract::{Embedder, Embedding, EmbeddingSpace, Retriever, dot},
    domain::{Candidate, IndexMark, IndexUpdate, Query, Skill, SkillRef},
    error::{Error, ErrorKind, Result},
    id::{Revision, SkillId, Version, sha256_hex},
};

/// The number of texts of one call of the embedder.
const BATCH: usize = 64;
/// Characters of a passage, some 225 tokens of English: what sentence encoders read at most is 256 to 512 tokens.
const PASSAGE: usize = 900;
/// Passages of a skill at most.
const PASSAGES: usize = 12;
/// The texts of a skill: its card, and its passages.
const FORM: u32 = 1;
/// What to do with vectors of another version.
const ANEW: &str =
    "make the index anew with `VectorRetriever::new`, and refresh it from the library";
/// What to do where vectors of two models would meet.
const REBUILD: &str = "vectors of two models cannot be compared: rebuild the index with `VectorRetriever::new` on the \
    present embedder, and refresh it from the library";

/// The vectors of a library's skills, from [`VectorRetriever::vectors`] and for [`VectorRetriever::with_vectors`]. They are
/// derived state that a host may keep in any serde format, so that it need not embed the whole library at each start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vectors {
    /// Which texts of a skill are embedded; 0 in those of an earlier version, which had one text of each.
    #[serde(default)]
    form: u32,
    space: EmbeddingSpace,
    mark: IndexMark,
    skills: BTreeMap<SkillId, Row>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    version: Version,
    /// SHA-256 of the embedded texts.
    sha256: String,
    /// Of its name, description and trigger.
    vector: Embedding,
    /// Of each passage of its body.
    #[serde(default)]
    passages: Vec<Embedding>,
}

impl Row {
    /// The mean of both cosines: with what a skill is for, and with the passage that is nearest.
    fn score(&self, to: &[f32]) -> f64 {
        let cosine = |one: &Embedding| f64::from(dot(one.components(), to));
        let nearest = self.passages.iter().map(cosine).reduce(f64::max);
        let first = cosine(&self.vector);
        nearest.map_or(first, |nearest| first.midpoint(nearest))
    }

    fn vectors(&self) -> impl Iterator<Item = &Embedding> {
        std::iter::once(&self.vector).chain(&self.passages)
    }
}

/// A [`Retriever`] with exact search over embeddings: a search takes the cosine of the query's embedding with that of every
/// skill, so that no skill is missed as in an approximate index. Of each skill one text of name, description and trigger is embedded, and
/// the body in up to 12 passages of 900 characters, since encoders read little more at once; its score is the mean of that text's cosine
/// and the nearest passage's.
///
/// Vectors are `f32` in memory: 4 bytes for each dimension of each text. The time of a search is proportional to texts
/// times dimensions, on the calling thread. Only new texts are embedded; searches during a refresh use the vectors before
/// it. An embedder that gives another space or other dimensions later, such as a server whose model was replaced, is an error
/// of that search or refresh and changes nothing: the index has to be rebuilt.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{
///     agent::VectorRetriever, contract::Retriever, domain::Query, library::SkillLibrary, testing::WordEmbedder,
/// };
///
/// # futures::executor::block_on(async {
/// let retriever = VectorRetriever::new(Arc::new(WordEmbedder::new(256)));
/// let library = SkillLibrary::new();
/// library.refresh(&retriever).await?;
/// let query = Query::new("open the sealed jar", 10);
/// assert!(retriever.search(&query).await?.is_empty()); // there is no skill yet
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub struct VectorRetriever {
    embedder: Arc<dyn Embedder>,
    above: f64,
    /// Held during a refresh, so that there is one at a time.
    refreshing: Mutex<()>,
    vectors: RwLock<Vectors>,
}

impl VectorRetriever {
    /// An empty index with this embedder.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        let vectors = Vectors {
            form: FORM,
            space: embedder.space().clone(),
            mark: IndexMark::default(),
            skills: BTreeMap::new(),
        };
        Self {
            embedder,
            above: 0.0,
            refreshing: Mutex::new(()),
            vectors: RwLock::new(vectors),
        }
    }

    /// An index that continues with vectors kept earlier.
    ///
    /// # Errors
    /// `Unsupported` for vectors that another version kept; `Invalid` where the vectors are of another embedding space than the embedder's; `Corrupt` where a vector has another
    /// number of dimensions or is not finite.
    pub fn with_vectors(embedder: Arc<dyn Embedder>, vectors: Vectors) -> Result<Self> {
        const OPERATION: &str = "VectorRetriever::with_vectors";
        let new = Self::new(embedder);
        let space = new.embedder.space();
        if vectors.space != *space {
            return Err(
                Error::invalid(OPERATION, "the vectors are of another embedder")
                    .with(
                        "kept",
                        format!("{} of {}", vectors.space.name, vectors.space.dimensions),
                    )
                    .with("given", format!("{} of {}", space.name, space.dimensions))
                    .hint(REBUILD),
            );
        }
        if vectors.form != FORM {
            let message = "the vectors were kept by another version";
            return Err(Error::unsupported(OPERATION, message)
                .with("form", vectors.form)
                .hint(ANEW));
        }
        let sound = |row: &Row| row.vectors().all(|vector| is_of(vector, space));
        if let Some((skill, _)) = vectors.skills.iter().find(|(_, row)| !sound(row)) {
            let message = "a kept vector is not of the embedder's space";
            return Err(Error::corrupt(OPERATION, message)
                .with("skill", skill)
                .hint(REBUILD));
        }
        Ok(Self {
            vectors: RwLock::new(vectors),
            ..new
        })
    }

    /// Returns only candidates whose cosine is greater than this, from -1 to 1. Default: 0. The best value depends on the
    /// embedder: many give unrelated texts a cosine well above 0.
    pub fn above(mut self, cosine: f64) -> Self {
        self.above = cosine;
        self
    }

    /// A copy of the vectors to keep, for [`VectorRetriever::with_vectors`].
    pub fn vectors(&self) -> Vectors {
        self.read(Vectors::clone)
    }

    fn read<T>(&self, reader: impl FnOnce(&Vectors) -> T) -> T {
        reader(&self.vectors.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The rows of these skills. What is embedded already is not embedded again.
    async fn rows(&self, skills: &[Skill]) -> Result<Vec<(SkillId, Row)>> {
        let texts: Vec<Vec<String>> = skills.iter().map(texts_of).collect();
        let hashes: Vec<String> = texts.iter().map(|of| sha256_hex(of.join("\n"))).collect();
        let known: Vec<Option<Row>> = self.read(|vectors| {
            let row = |(skill, hash): (&Skill, &String)| {
                let row = vectors.skills.get(&skill.id);
                row.filter(|row| row.sha256 == *hash).cloned()
            };
            skills.iter().zip(&hashes).map(row).collect()
        });
        let new = texts.iter().zip(&known);
        let new = new.filter(|(_, known)| known.is_none());
        let new: Vec<String> = new.flat_map(|(of, _)| of.clone()).collect();
        let mut embedded = self.embed("Retriever::refresh", &new).await?.into_iter();
        let rows = skills.iter().zip(texts).zip(hashes.into_iter().zip(known));
        let rows = rows.filter_map(|((skill, texts), (sha256, known))| {
            let row = match known {
                Some(known) => known,
                None => Row {
                    version: skill.version,
                    sha256,
                    vector: embedded.next()?,
                    passages: embedded.by_ref().take(texts.len() - 1).collect(),
                },
            };
            let version = skill.version;
            Some((skill.id.clone(), Row { version, ..row }))
        });
        Ok(rows.collect())
    }

    async fn embed(&self, operation: &'static str, texts: &[String]) -> Result<Vec<Embedding>> {
        let mut embedded = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let asked: Vec<&str> = batch.iter().map(String::as_str).collect();
            let given = self.embedder.embed(&asked).await?;
            let (space, kept) = (self.embedder.space(), self.read(|all| all.space.clone()));
            if *space != kept {
                let message = "the embedder has another space than the index";
                return Err(Error::invalid(operation, message)
                    .with("index", format!("{} of {}", kept.name, kept.dimensions))
                    .with(
                        "embedder",
                        format!("{} of {}", space.name, space.dimensions),
                    )
                    .hint(REBUILD));
            }
            let other = given.iter().find(|vector| !is_of(vector, space));
            if let Some(other) = other {
                let message = "the embedder gave an embedding of other dimensions than its space";
                return Err(Error::new(ErrorKind::Model, operation, message)
                    .with("embedder", &space.name)
                    .with("dimensions", space.dimensions)
                    .with("given", other.components().len())
                    .hint(REBUILD));
            }
            if given.len() != asked.len() {
                let message = "the embedder gave another number of embeddings than texts";
                return Err(Error::new(ErrorKind::Model, operation, message)
                    .with("embedder", &space.name)
                    .hint("run the embedder's conformance suite"));
            }
            embedded.extend(given);
        }
        Ok(embedded)
    }
}

impl Vectors {
    fn take_in(&mut self, update: &IndexUpdate, rows: Vec<(SkillId, Row)>) {
        if update.since == Revision(0) {
            self.skills.clear();
        }
        self.skills.extend(rows);
        for id in &update.gone {
            self.skills.remove(id);
        }
        self.mark = self.mark.after(update);
    }

    fn nearest(&self, to: &[f32], query: &Query, above: f64) -> Vec<Candidate> {
        let candidate = |(id, row): (&SkillId, &Row)| {
            let score = row.score(to);
            (score > above).then(|| Candidate {
                skill: SkillRef {
                    id: id.clone(),
                    version: row.version,
                },
                score,
            })
        };
        let mut found: Vec<Candidate> = match &query.among {
            None => self.skills.iter().filter_map(candidate).collect(),
            Some(among) => {
                let among: HashSet<&SkillId> = among.iter().collect();
                let rows = among
                    .into_iter()
                    .filter_map(|id| self.skills.get_key_value(id));
                rows.filter_map(candidate).collect()
            }
        };
        if query.limit < found.len() && query.limit > 0 {
            found.select_nth_unstable_by(query.limit - 1, better_first);
        }
        found.truncate(query.limit);
        found.sort_by(better_first);
        found
    }
}

fn better_first(a: &Candidate, b: &Candidate) -> Ordering {
    (b.score.total_cmp(&a.score)).then_with(|| a.skill.id.cmp(&b.skill.id))
}

fn is_of(vector: &Embedding, space: &EmbeddingSpace) -> bool {
    vector.components().len() == space.dimensions
}

/// The texts of which a skill is found: name, description and trigger, then the passages of its body.
fn texts_of(skill: &Skill) -> Vec<String> {
    let card = [
        skill.name.as_str(),
        &skill.description,
        skill.trigger.as_deref().unwrap_or_default(),
    ]
    .join("\n");
    let body: Vec<char> = skill.body.chars().collect();
    let passages = body.chunks(PASSAGE).take(PASSAGES);
    let passages = passages.map(|passage| passage.iter().collect());
    std::iter::once(card).chain(passages).collect()
}

#[async_trait]
impl Retriever for VectorRetriever {
    async fn watermark(&self) -> Result<Revision> {
        Ok(self.read(|vectors| vectors.mark.watermark()))
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        let _one = self.refreshing.lock().await;
        if !self.read(|vectors| vectors.mark.takes(update))? {
            return Ok(());
        }
        let rows = self.rows(&update.changed).await?;
        let mut vectors = (self.vectors.write()).unwrap_or_else(PoisonError::into_inner);
        vectors.take_in(update, rows);
        Ok(())
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        let text = std::slice::from_ref(&query.text);
        let embedded = self.embed("Retriever::search", text).await?;
        let to = embedded.first().map_or(&[][..], Embedding::components);
        Ok(self.read(|vectors| vectors.nearest(to, query, self.above)))
    }

    fn has_comparable_scores(&self) -> bool {
        true
    }
}

impl fmt::Debug for VectorRetriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorRetriever")
            .field("embedder", &self.embedder)
            .field("above", &self.above)
            .field("skills", &self.read(|vectors| vectors.skills.len()))
            .finish_non_exhaustive()
    }
}
