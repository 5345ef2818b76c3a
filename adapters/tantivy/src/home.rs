//! The storage of the index: in memory, or in a folder that processes can share.

use std::{
    fs, io,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use journeyman::{Error, ErrorKind, Result};
use tantivy::{
    Directory, Index, IndexMeta, IndexWriter, TantivyError,
    directory::{
        DirectoryLock, INDEX_WRITER_LOCK, MmapDirectory,
        error::{LockError, OpenDirectoryError, OpenReadError},
    },
    indexer::{IndexWriterOptions, LogMergePolicy},
};

use crate::{
    config::Stemmer,
    convert::{Fields, ID, VERSION, error, kind},
    mark,
};

/// How long a refresh waits for a refresh by another process.
const WAIT: Duration = Duration::from_secs(5);
/// The subfolder that a damaged index is moved to.
const DAMAGED: &str = "damaged";
/// Memory of a refresh, in bytes, before it writes a segment: tantivy's minimum for up to `FEW` edits, and more for
/// others, which makes fewer segments.
const WRITING_BYTES: usize = 15_000_000;
const FEW: usize = 1_000;
const WRITING_BYTES_FOR_MANY: usize = 64_000_000;
/// Segments of fewer documents count as equally small, so that they are merged first.
const SMALL_SEGMENT: u32 = 64;
/// The share of replaced documents in a segment, from 0 to 1, above which it is rewritten.
const MOST_REPLACED: f32 = 0.3;

/// An index and its folder, if it has one.
pub(crate) struct Home {
    folder: Option<PathBuf>,
    pub(crate) index: Index,
    /// The stemmer of its words.
    pub(crate) stemmer: Option<Stemmer>,
}

impl Home {
    pub(crate) fn in_memory(stemmer: Option<Stemmer>) -> Result<Self> {
        let index = (Index::builder().schema(Fields::schema().0)).create_in_ram();
        Ok(Self {
            folder: None,
            index: index.map_err(|source| error("Bm25Retriever::new", source))?,
            stemmer,
        })
    }

    /// Opens the index of a folder. A damaged index is moved aside and replaced by an empty one.
    pub(crate) fn in_folder(
        operation: &'static str,
        folder: &Path,
        stemmer: Option<Stemmer>,
    ) -> Result<Self> {
        let failed = |source: TantivyError| {
            error(operation, source)
                .with("folder", folder.display())
                .hint("give the index a writable folder, or keep it in memory with Bm25Retriever::new")
        };
        fs::create_dir_all(folder).map_err(|source| failed(source.into()))?;
        let index = match open_checked(folder, stemmer) {
            Ok(index) => index,
            Err(source) if is_damage(&source) => {
                replace_damaged(folder, stemmer).map_err(failed)?
            }
            Err(source) => return Err(failed(source)),
        };
        Ok(Self {
            folder: Some(folder.to_owned()),
            index,
            stemmer,
        })
    }

    /// Opens the folder's index again; `None` where the failure is not damage, or the index is in memory.
    pub(crate) fn reopen_damaged(&self, failure: &TantivyError) -> Option<Result<Self>> {
        let folder = self.folder.as_ref().filter(|_| is_damage(failure))?;
        Some(Self::in_folder("Bm25Retriever::open", folder, self.stemmer))
    }

    /// The writer, of which only one can exist over all processes, with its threads.
    pub(crate) fn writer(&self, edits: usize) -> Result<IndexWriter, TantivyError> {
        let bytes = match edits {
            0..FEW => WRITING_BYTES,
            _ => WRITING_BYTES_FOR_MANY,
        };
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(bytes)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer = retry_while_locked(|| self.index.writer_with_options(options.clone()))?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_layer_size(SMALL_SEGMENT);
        policy.set_del_docs_ratio_before_merge(MOST_REPLACED);
        writer.set_merge_policy(Box::new(policy));
        Ok(writer)
    }
}

/// Retries for a bounded time while another process holds the lock.
fn retry_while_locked<T>(
    mut lock: impl FnMut() -> Result<T, TantivyError>,
) -> Result<T, TantivyError> {
    let started = Instant::now();
    loop {
        match lock() {
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) if started.elapsed() < WAIT => {
                thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

fn folder_of(folder: &Path) -> Result<MmapDirectory, TantivyError> {
    Ok(MmapDirectory::open(folder)?)
}

/// Opens the index of a folder after checking all its bytes; creates an empty one where there is none.
fn open_checked(folder: &Path, stemmer: Option<Stemmer>) -> Result<Index, TantivyError> {
    // tantivy panics on some invalid lengths.
    panic::catch_unwind(AssertUnwindSafe(|| checked_index(folder, stemmer)))
        .unwrap_or_else(|_| Err(damaged("a file cannot be read")))
}

fn checked_index(folder: &Path, stemmer: Option<Stemmer>) -> Result<Index, TantivyError> {
    let directory = folder_of(folder)?;
    let (schema, _) = Fields::schema();
    if !Index::exists(&directory)? {
        // Segment files without `meta.json` are the rest of a damaged index.
        if index_files(folder)?.next().is_some() {
            return Err(damaged("meta.json is missing"));
        }
        let _lock = retry_while_locked(|| lock(&directory))?;
        return Index::builder().schema(schema).open_or_create(directory);
    }
    let index = Index::open(directory)?;
    if index.schema() != schema {
        return Err(damaged("the index has other fields"));
    }
    let metas = index.load_metas()?;
    mark::read(&metas, stemmer)?;
    for file in metas.list_segment_files() {
        if index.directory().exists(&file)? && !index.directory().validate_checksum(&file)? {
            return Err(damaged("a file differs from its checksum"));
        }
    }
    check_segments(&index, &metas)?;
    Ok(index)
}

/// Checks that everything that a search opens is there, with the counts of `meta.json`, which has no checksum.
fn check_segments(index: &Index, metas: &IndexMeta) -> Result<(), TantivyError> {
    let (_, fields) = Fields::schema();
    let searcher = index.reader()?.searcher();
    let max_docs: u32 = metas.segments.iter().map(|segment| segment.max_doc()).sum();
    let mut documents = 0;
    for segment in searcher.segment_readers() {
        for field in fields.texts {
            segment.inverted_index(field)?;
            segment.get_fieldnorms_reader(field)?;
        }
        let columns = segment.fast_fields();
        columns.str(ID)?;
        let counted = columns.u64(VERSION)?.num_docs();
        let alive = segment.alive_bitset();
        let live = alive.map_or(counted, |alive| alive.num_alive_docs() as u32);
        if counted != segment.max_doc() || live != segment.num_docs() {
            return Err(damaged("the number of documents differs from meta.json"));
        }
        documents += counted;
    }
    match documents == max_docs {
        true => Ok(()),
        false => Err(damaged("a segment is missing")),
    }
}

fn lock(directory: &MmapDirectory) -> Result<DirectoryLock, TantivyError> {
    (directory.acquire_lock(&INDEX_WRITER_LOCK))
        .map_err(|error| TantivyError::LockFailure(error, None))
}

/// Moves a damaged index aside and creates an empty one, unless another process has done so already.
fn replace_damaged(folder: &Path, stemmer: Option<Stemmer>) -> Result<Index, TantivyError> {
    let directory = folder_of(folder)?;
    let lock = retry_while_locked(|| lock(&directory))?;
    if let Ok(index) = open_checked_unlocked(folder, stemmer) {
        return Ok(index);
    }
    let aside = folder.join(DAMAGED);
    match fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir(&aside)?,
    }
    for piece in index_files(folder)? {
        fs::rename(&piece, aside.join(piece.file_name().unwrap_or_default()))?;
    }
    let index = (Index::builder().schema(Fields::schema().0)).open_or_create(directory)?;
    drop(lock);
    Ok(index)
}

fn open_checked_unlocked(folder: &Path, stemmer: Option<Stemmer>) -> Result<Index, TantivyError> {
    match Index::exists(&folder_of(folder)?)? {
        true => open_checked(folder, stemmer),
        false => Err(damaged("meta.json is missing")),
    }
}

/// The files of an index in a folder. All other files are left alone.
fn index_files(folder: &Path) -> io::Result<impl Iterator<Item = PathBuf>> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let is_piece = |name: &str| {
        let (stem, end) = name.split_at_checked(32).unwrap_or_default();
        let is_segment = stem.bytes().all(|byte| byte.is_ascii_hexdigit()) && end.starts_with('.');
        is_segment || ["meta.json", ".managed.json"].contains(&name)
    };
    Ok(
        (entries.into_iter().map(|entry| entry.path())).filter(move |path| {
            path.file_name()
                .and_then(|name| name.to_str())
                .is_some_and(is_piece)
        }),
    )
}

fn damaged(what: &str) -> TantivyError {
    TantivyError::SchemaError(what.to_owned())
}

/// Whether a failure comes from the folder's content and not from the machine.
fn is_damage(failure: &TantivyError) -> bool {
    match failure {
        TantivyError::OpenReadError(OpenReadError::IoError {
            io_error: error, ..
        })
        | TantivyError::LockFailure(LockError::IoError(error), _)
        | TantivyError::IoError(error) => is_content_error(error.kind()),
        TantivyError::OpenDirectoryError(error) => {
            matches!(error, OpenDirectoryError::DoesNotExist(_))
        }
        TantivyError::OpenReadError(_) => true,
        other => kind(other) == ErrorKind::Corrupt,
    }
}

/// The kinds of errors for a file that is missing, cut off or cannot be parsed.
fn is_content_error(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    [InvalidData, InvalidInput, NotFound, Other, UnexpectedEof].contains(&kind)
}

/// Whether another process held the lock for too long.
pub(crate) fn is_busy(failure: &TantivyError) -> bool {
    matches!(failure, TantivyError::LockFailure(LockError::LockBusy, _))
}

/// The error of a refresh that found the lock busy.
pub(crate) fn busy(source: TantivyError) -> Error {
    error("Retriever::refresh", source)
        .with("waited_s", WAIT.as_secs())
        .hint("another process is refreshing this index; searches go on, and the next refresh adds what is missing")
}
