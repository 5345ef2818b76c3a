//! The retriever.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use async_trait::async_trait;
use journeyman::{
    Result, Revision,
    contract::Retriever,
    domain::{Candidate, IndexMark, IndexUpdate, Query},
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
/// The index is derived state, in memory ([`Bm25Retriever::new`]) or in a folder ([`Bm25Retriever::open`]): bring it to
/// a library's revision with [`SkillLibrary::refresh`](journeyman::library::SkillLibrary::refresh) at any time. A
/// skill's state is not looked at; the caller says with [`Query::among`] what may be offered, and document frequencies
/// are those of the whole library whatever it says. A refresh starts a writing and a merging thread and ends them;
/// searching starts none.
pub struct Bm25Retriever {
    config: Config,
    fields: Fields,
    state: Mutex<State>,
    view: RwLock<Arc<View>>,
}

struct State {
    home: Home,
    reader: IndexReader,
    /// What the index on disk said when it was read last.
    read: Option<String>,
    /// Whose index this is and how far: on disk, or further where no skill has changed since.
    mark: IndexMark,
}

impl Bm25Retriever {
    /// An empty index in memory.
    ///
    /// # Errors
    /// `Invalid` for an option out of range.
    pub fn new(config: Config) -> Result<Self> {
        config.check()?;
        Self::at("Bm25Retriever::new", config, Home::in_memory()?)
    }

    /// The index of a folder, or an empty one where there is none. All of it is checked: one that is damaged or was
    /// made by another form of this adapter is moved to the folder's `damaged`, in the place of an earlier one, and
    /// begun anew, at watermark 0.
    ///
    /// A folder belongs to one library; where it is given to another one, the index is made anew for that. Any number
    /// of processes may share it: one at a time refreshes, the others search what they have and take in what was
    /// refreshed when they are asked for their watermark. Opening, refreshing and asking for the watermark do their
    /// reading, writing and waiting (at most 5 seconds for another's refresh) on the calling thread.
    ///
    /// A search reads files that are mapped into memory. A folder that is deleted meanwhile is made anew by the next
    /// refresh; but a file that somebody cuts short in its place ends the process (`SIGBUS`), so nothing but this
    /// adapter should write there.
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
        Self::at(
            operation,
            config,
            Home::in_folder(operation, folder.as_ref())?,
        )
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

    /// Shows searches what the index holds now.
    fn show(&self, state: &State) -> Result<(), TantivyError> {
        let before = self.view();
        let searcher = state.reader.searcher();
        let view = View::of(searcher, self.fields, &self.config, Some(&before))?;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        Ok(())
    }

    /// Takes in what other processes refreshed. What is lost or damaged is begun anew; searches go on with what they
    /// have until it is filled.
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
        match state.home.again(&failure) {
            None => Err(error(REFRESH, failure)),
            Some(home) => {
                *state = State::read(home?).map_err(|source| error(REFRESH, source))?;
                Ok(())
            }
        }
    }

    fn take_in(&self, update: &IndexUpdate) -> Result<()> {
        let mut state = self.lock();
        self.catch_up(&mut state)?;
        if !state.mark.takes(update)? {
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
        // Nobody else writes from here on; somebody may have before.
        self.catch_up(&mut state)?;
        if !state.mark.takes(update)? {
            return Ok(());
        }
        let anew = update.since == Revision(0);
        let committed = commit(writer, edits, anew, &mark).and_then(|()| {
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
            mark: mark::read(&metas)?,
            read: metas.payload,
            reader: reader(&home.index)?,
            home,
        })
    }

    /// Whether the index has moved since it was read last; then it is read again.
    fn follow(&mut self) -> Result<bool, TantivyError> {
        let metas = self.home.index.load_metas()?;
        if metas.payload == self.read {
            return Ok(false);
        }
        let mark = mark::read(&metas)?;
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

/// A document to put in the place of what has this key, or none.
type Edit = (tantivy::Term, Option<tantivy::TantivyDocument>);

/// Replaces documents by their keys, or all of them. The mark goes into the same commit, so that an index that is
/// opened again knows how far it is. What fails leaves nothing behind.
fn commit(
    mut writer: IndexWriter,
    edits: Vec<Edit>,
    anew: bool,
    mark: &IndexMark,
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
    commit.set_payload(&mark::payload(mark)?);
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
        self.take_in(update)
    }

    async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
        (self.view().find(query, &self.config)).map_err(|source| error("Retriever::search", source))
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
