//! Where the index lies: in memory, or in a folder that other processes may share.

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
    convert::{Fields, ID, VERSION, error, kind},
    mark,
};

/// How long a refresh waits for another process's.
const WAIT: Duration = Duration::from_secs(5);
/// What a damaged index is moved to, within its folder.
const DAMAGED: &str = "damaged";
/// What a refresh may hold in memory before it writes a segment: the least that tantivy takes, and for more skills than
/// a few more, which makes for fewer segments.
const WRITING_BYTES: usize = 15_000_000;
const FEW: usize = 1_000;
const WRITING_BYTES_FOR_MANY: usize = 64_000_000;
/// Segments of fewer documents count as equally small, so that they are merged first.
const SMALL_SEGMENT: u32 = 64;
/// The share of replaced documents from which on a segment is written anew.
const MOST_REPLACED: f32 = 0.3;

/// An index where it lies.
pub(crate) struct Home {
    folder: Option<PathBuf>,
    pub(crate) index: Index,
}

impl Home {
    pub(crate) fn in_memory() -> Result<Self> {
        let index = (Index::builder().schema(Fields::schema().0)).create_in_ram();
        Ok(Self {
            folder: None,
            index: index.map_err(|source| error("Bm25Retriever::new", source))?,
        })
    }

    /// What lies in a folder; what is damaged there is moved aside and begun anew.
    pub(crate) fn in_folder(operation: &'static str, folder: &Path) -> Result<Self> {
        let failed = |source: TantivyError| {
            error(operation, source)
                .with("folder", folder.display())
                .hint("give the index a folder that can be written; or keep it in memory with Bm25Retriever::new")
        };
        fs::create_dir_all(folder).map_err(|source| failed(source.into()))?;
        let index = match sound_index(folder) {
            Ok(index) => index,
            Err(source) if is_damage(&source) => begin_anew(folder).map_err(failed)?,
            Err(source) => return Err(failed(source)),
        };
        Ok(Self {
            folder: Some(folder.to_owned()),
            index,
        })
    }

    /// The same, from what lies there now; `None` where what failed is no damage or nothing lies outside of memory.
    pub(crate) fn again(&self, failure: &TantivyError) -> Option<Result<Self>> {
        let folder = self.folder.as_ref().filter(|_| is_damage(failure))?;
        Some(Self::in_folder("Bm25Retriever::open", folder))
    }

    /// The one writer that there can be, over all processes, with the threads that belong to it.
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
        let writer = patiently(|| self.index.writer_with_options(options.clone()))?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_layer_size(SMALL_SEGMENT);
        policy.set_del_docs_ratio_before_merge(MOST_REPLACED);
        writer.set_merge_policy(Box::new(policy));
        Ok(writer)
    }
}

/// Tries again for a bounded time while somebody else has the lock.
fn patiently<T>(mut lock: impl FnMut() -> Result<T, TantivyError>) -> Result<T, TantivyError> {
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

/// The index of a folder after every byte of it was checked, or a new one where there is none.
fn sound_index(folder: &Path) -> Result<Index, TantivyError> {
    // tantivy asserts on some lengths that it reads.
    panic::catch_unwind(AssertUnwindSafe(|| checked_index(folder)))
        .unwrap_or_else(|_| Err(damaged("a file cannot be read")))
}

fn checked_index(folder: &Path) -> Result<Index, TantivyError> {
    let directory = folder_of(folder)?;
    let (schema, _) = Fields::schema();
    if !Index::exists(&directory)? {
        // What is there without its list of segments is what is left of a damaged one.
        if pieces(folder)?.next().is_some() {
            return Err(damaged("the list of segments is missing"));
        }
        let _lock = patiently(|| lock(&directory))?;
        return Index::builder().schema(schema).open_or_create(directory);
    }
    let index = Index::open(directory)?;
    if index.schema() != schema {
        return Err(damaged("it has other fields"));
    }
    let metas = index.load_metas()?;
    mark::read(&metas)?;
    for file in metas.list_segment_files() {
        if index.directory().exists(&file)? && !index.directory().validate_checksum(&file)? {
            return Err(damaged("a file's bytes are not what was written"));
        }
    }
    check_segments(&index, &metas)?;
    Ok(index)
}

/// Whether all is there that a search opens, and in the numbers that the list of segments, which has no checksum, says.
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
            return Err(damaged("the numbers of documents differ"));
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

/// Moves what is damaged aside and begins a new index, unless another process has done so first.
fn begin_anew(folder: &Path) -> Result<Index, TantivyError> {
    let directory = folder_of(folder)?;
    let lock = patiently(|| lock(&directory))?;
    if let Ok(index) = sound_index_unlocked(folder) {
        return Ok(index);
    }
    let aside = folder.join(DAMAGED);
    match fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir(&aside)?,
    }
    for piece in pieces(folder)? {
        fs::rename(&piece, aside.join(piece.file_name().unwrap_or_default()))?;
    }
    let index = (Index::builder().schema(Fields::schema().0)).open_or_create(directory)?;
    drop(lock);
    Ok(index)
}

fn sound_index_unlocked(folder: &Path) -> Result<Index, TantivyError> {
    match Index::exists(&folder_of(folder)?)? {
        true => sound_index(folder),
        false => Err(damaged("the list of segments is missing")),
    }
}

/// The files of an index in a folder. Whatever else a person keeps there is left alone.
fn pieces(folder: &Path) -> io::Result<impl Iterator<Item = PathBuf>> {
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

/// Whether a failure comes from what lies in the folder and not from the machine.
fn is_damage(failure: &TantivyError) -> bool {
    match failure {
        TantivyError::OpenReadError(OpenReadError::IoError {
            io_error: error, ..
        })
        | TantivyError::LockFailure(LockError::IoError(error), _)
        | TantivyError::IoError(error) => is_of_the_bytes(error.kind()),
        TantivyError::OpenDirectoryError(error) => {
            matches!(error, OpenDirectoryError::DoesNotExist(_))
        }
        TantivyError::OpenReadError(_) => true,
        other => kind(other) == ErrorKind::Corrupt,
    }
}

/// What tantivy gives for a file that is missing, cut or not to be parsed.
fn is_of_the_bytes(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    [InvalidData, InvalidInput, NotFound, Other, UnexpectedEof].contains(&kind)
}

/// For the hint of a lock that stays busy.
pub(crate) fn is_busy(failure: &TantivyError) -> bool {
    matches!(failure, TantivyError::LockFailure(LockError::LockBusy, _))
}

/// What a refresh that found the lock busy says.
pub(crate) fn busy(source: TantivyError) -> Error {
    error("Retriever::refresh", source)
        .with("waited_s", WAIT.as_secs())
        .hint("another process refreshes this index; searching goes on, and the next refresh takes in what is missing")
}
