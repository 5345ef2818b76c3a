//! [`Bm25Retriever`]: the index with its refreshes and searches.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use async_trait::async_trait;
use journeyman::{
    Result,
    contract::Retriever,
    domain::{Candidate, IndexMark, IndexUpdate, Query, Revision},
};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyError};

use crate::{
    Config,
    convert::{Fields, error},
    home::{self, Home},
    mark,
    view::View,
};

const REFRESH: &str = "Retriever::refresh";

/// BM25 over the name, description, trigger and body of each skill.
///
/// The index is derived state, in memory ([`Bm25Retriever::new`]) or in a folder ([`Bm25Retriever::open`]).
/// [`SkillLibrary::refresh`](journeyman::library::SkillLibrary::refresh) brings it to a library's revision at any time.
/// The states of skills are ignored: the caller restricts a search with [`Query::among`], and document frequencies are
/// over the whole library in any case. A refresh starts a writing thread and a merging thread and ends them; a search
/// starts none.
pub struct Bm25Retriever {
    config: Config,
    fields: Fields,
    state: Mutex<State>,
    view: RwLock<Arc<View>>,
}

struct State {
    home: Home,
    reader: IndexReader,
    /// The payload of the index on disk when it was last read.
    read: Option<String>,
    /// The library and revision of the index: as on disk, or later where no skill has changed since.
    mark: IndexMark,
}

impl Bm25Retriever {
    /// An empty index in memory.
    ///
    /// # Errors
    /// `Invalid` for an option out of range.
    pub fn new(config: Config) -> Result<Self> {
        config.check()?;
        let stemmer = config.stemmer;
        Self::at("Bm25Retriever::new", config, Home::in_memory(stemmer)?)
    }

    /// Opens the index of a folder; creates an empty one where there is none. The whole index is checked. One that is
    /// damaged or has another index format is moved to the folder's `damaged`, replacing an earlier one there, and an
    /// empty index with watermark 0 takes its place.
    ///
    /// A folder belongs to one library; a refresh by another library rebuilds the index. Any number of processes may
    /// share the folder: one at a time refreshes, and the others search the state that they have read and follow when
    /// they are asked for their watermark. Opening, refreshing and asking for the watermark read, write and wait (at
    /// most 5 seconds for another process's refresh) on the calling thread.
    ///
    /// A search reads files that are mapped into memory. The next refresh recreates a folder that was deleted
    /// meanwhile. A file that is truncated in place ends the process (`SIGBUS`), so nothing but this adapter should
    /// write there.
    ///
    /// ```
    /// use journeyman::library::SkillLibrary;
    /// use journeyman_tantivy::{Bm25Retriever, Config};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("index");
    /// # futures::executor::block_on(async {
    /// let retriever = Bm25Retriever::open(&path, Config::default())?;
    /// SkillLibrary::new().refresh(&retriever).await?;
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Invalid` for an option out of range; `Unavailable` for a folder that cannot be read or written.
    pub fn open(folder: impl AsRef<Path>, config: Config) -> Result<Self> {
        config.check()?;
        let operation = "Bm25Retriever::open";
        let home = Home::in_folder(operation, folder.as_ref(), config.stemmer)?;
        Self::at(operation, config, home)
    }

    fn at(operation: &'static str, config: Config, home: Home) -> Result<Self> {
        let (_, fields) = Fields::schema();
        let read = || {
            let state = State::read(home)?;
            let view = View::of(state.reader.searcher(), fields, &config, None)?;
            Ok::<_, TantivyError>((state, view))
        };
        let (state, view) = read().map_err(|source| error(operation, source))?;
        Ok(Self {
            config,
            fields,
            state: Mutex::new(state),
            view: RwLock::new(Arc::new(view)),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the present state of the index visible to searches.
    fn show(&self, state: &State) -> Result<(), TantivyError> {
        let before = self.view();
        let searcher = state.reader.searcher();
        let view = View::of(searcher, self.fields, &self.config, Some(&before))?;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        Ok(())
    }

    /// Follows refreshes by other processes. A lost or damaged index is replaced by an empty one; searches use the
    /// state that they have until it is filled.
    fn catch_up(&self, state: &mut State) -> Result<()> {
        let moved = state.follow();
        let failure = match moved {
            Ok(false) => return Ok(()),
            Ok(true) => match self.show(state) {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            },
            Err(failure) => failure,
        };
        match state.home.reopen_damaged(&failure) {
            None => Err(error(REFRESH, failure)),
            Some(home) => {
                *state = State::read(home?).map_err(|source| error(REFRESH, source))?;
                Ok(())
            }
        }
    }

    fn apply_update(&self, update: &IndexUpdate) -> Result<()> {
        let mut state = self.lock();
        self.catch_up(&mut state)?;
        if !state.mark.takes(update)? {
            return Ok(());
        }
        let mut edits = Vec::with_capacity(update.changed.len() + update.gone.len());
        for skill in &update.changed {
            let document = self.fields.document(skill, self.config.stemmer)?;
            edits.push((self.fields.key(skill.id.as_str()), Some(document)));
        }
        for id in &update.gone {
            edits.push((self.fields.key(id.as_str()), None));
        }
        let mark = state.mark.after(update);
        if edits.is_empty() && update.since > Revision(0) {
            state.mark = mark;
            return Ok(());
        }
        let writer =
            state
                .home
                .writer(edits.len())
                .map_err(|source| match home::is_busy(&source) {
                    true => home::busy(source),
                    false => error(REFRESH, source),
                })?;
        // No other process can write from here on; one may have written before.
        self.catch_up(&mut state)?;
        if !state.mark.takes(update)? {
            return Ok(());
        }
        let anew = update.since == Revision(0);
        let committed = mark::payload(&mark, self.config.stemmer)
            .and_then(|payload| commit(writer, edits, anew, &payload))
            .and_then(|()| {
                state.follow()?;
                self.show(&state)
            });
        committed.map_err(|source| error(REFRESH, source))
    }
}

impl State {
    fn read(home: Home) -> Result<Self, TantivyError> {
        let metas = home.index.load_metas()?;
        Ok(Self {
            mark: mark::read(&metas, home.stemmer)?,
            read: metas.payload,
            reader: reader(&home.index)?,
            home,
        })
    }

    /// Reads the index again if it has changed since it was last read; returns whether it had.
    fn follow(&mut self) -> Result<bool, TantivyError> {
        let metas = self.home.index.load_metas()?;
        if metas.payload == self.read {
            return Ok(false);
        }
        let mark = mark::read(&metas, self.home.stemmer)?;
        self.reader.reload()?;
        self.mark = mark;
        self.read = metas.payload;
        Ok(true)
    }
}

fn reader(index: &Index) -> Result<IndexReader, TantivyError> {
    (index.reader_builder())
        .reload_policy(ReloadPolicy::Manual)
        .try_into()
}

/// A key and the document that replaces those with this key, if any.
type Edit = (tantivy::Term, Option<tantivy::TantivyDocument>);

/// Replaces documents by key, or all of them where `anew` is true. The mark is in the same commit, so that a reopened
/// index knows its revision; it is in the payload. A failed commit changes nothing.
fn commit(
    mut writer: IndexWriter,
    edits: Vec<Edit>,
    anew: bool,
    payload: &str,
) -> Result<(), TantivyError> {
    if anew {
        writer.delete_all_documents()?;
    }
    for (key, document) in edits {
        if !anew {
            writer.delete_term(key);
        }
        if let Some(document) = document {
            writer.add_document(document)?;
        }
    }
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(payload);
    commit.commit()?;
    writer.wait_merging_threads()
}

#[async_trait]
impl Retriever for Bm25Retriever {
    async fn watermark(&self) -> Result<Revision> {
        let mut state = self.lock();
        self.catch_up(&mut state)?;
        Ok(state.mark.watermark())
    }

    async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
        self.apply_update(update)
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        (self.view().find(query, &self.config)).map_err(|source| error("Retriever::search", source))
    }

    fn has_comparable_scores(&self) -> bool {
        true
    }
}

impl fmt::Debug for Bm25Retriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bm25Retriever")
            .field("config", &self.config)
            .field("skills", &self.view().skills())
            .finish_non_exhaustive()
    }
}
