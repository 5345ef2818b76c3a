//! Read-only access to a library.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use journeyman::{
    Error, ErrorKind, Result,
    agent::{FrozenStore, MemoryStore},
    contract::Snapshot,
    domain::Revision,
    library::SkillLibrary,
};

use crate::{
    convert::failed,
    database::Database,
    head::{self, Witness},
    read_only::{open_to_read, refuse_others},
    scores::Scores,
    skill_store::{DATABASE, no_library},
};

const READ: &str = "LibraryReader::open";

/// A library as of the moment it was opened, read without changing it or its folders. The user needs no write access.
///
/// ```
/// use journeyman_disk::{DiskStore, LibraryReader, DiskOptions};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// drop(DiskStore::open(folder, &DiskOptions::default())?);
/// assert_eq!(LibraryReader::open(folder)?.library().entries().count(), 0);
/// # Ok::<_, journeyman::Error>(())
/// ```
#[derive(Debug)]
pub struct LibraryReader {
    database: Database,
    library: SkillLibrary,
    scores: Scores,
    /// Path of the log that another process would create by opening the library meanwhile; `None` where a log was there
    /// from the start.
    log: Option<PathBuf>,
}

impl LibraryReader {
    /// Reads the library in this folder.
    ///
    /// # Errors
    /// `NotFound`: no library is there. `Invalid`: the database is not a library. `Unsupported`: another schema
    /// version; an older one would have to be upgraded. `Corrupt`: it is damaged. `Unavailable`: it cannot be read.
    pub fn open(root: &Path) -> Result<Self> {
        let path = root.join(DATABASE);
        if !path.is_file() {
            return Err(no_library(READ, root));
        }
        let log = path.with_extension("db-wal");
        loop {
            // A process that has the library open keeps a write-ahead log. Without one the files are read as immutable,
            // so that no log is created.
            let alone = (!log.exists()).then(|| log.clone());
            let is_alone = alone.is_some();
            let read = Self::read(&path, alone);
            if !(is_alone && log.exists()) {
                return read;
            }
        }
    }

    fn read(path: &Path, log: Option<PathBuf>) -> Result<Self> {
        // Read before the database: other processes may add writes in between.
        let acknowledged = Witness::of(path).writes()?;
        let mut database = open_to_read(READ, path, log.is_some())?;
        refuse_others(READ, &database, path)?;
        let named = |error: Error| error.with("path", path.display());
        let writes = head::writes(&database.connection);
        let writes = writes.map_err(|source| named(failed(READ, source)))?;
        if writes < acknowledged {
            return Err(named(database.witness.missing(acknowledged, writes)));
        }
        let committed = database.since(Revision(0)).map_err(named)?;
        Ok(Self {
            library: SkillLibrary::replay(&committed).map_err(named)?,
            scores: Scores::of(path.parent().unwrap_or(Path::new("."))),
            database,
            log,
        })
    }

    /// The skills of the library.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The library as a read-only store that runs can evaluate with, with the scores that sessions kept beside it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use journeyman::contract::SkillStore;
    /// use journeyman_disk::{DiskStore, LibraryReader, DiskOptions};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// # drop(DiskStore::open(folder, &DiskOptions::default())?);
    /// let store: Arc<dyn SkillStore> = Arc::new(LibraryReader::open(folder)?.frozen()?);
    /// # Ok::<_, journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Corrupt` for a damaged library; `Unavailable` where it cannot be read or another process has opened it
    /// meanwhile.
    pub fn frozen(&mut self) -> Result<FrozenStore> {
        let committed = self.database.since(Revision(0));
        self.refuse_other_processes("LibraryReader::frozen")?;
        let mut committed = committed?;
        // Commits that other processes added since the opening are left out.
        let revision = self.library.revision();
        committed.retain(|committed| committed.revision <= revision);
        let frozen = FrozenStore::new(Snapshot::new(revision, committed));
        let scores = match self.scores.read_only() {
            Ok(scores) => scores,
            Err(error) => {
                tracing::warn!(%error, "kept scores cannot be read, and are computed again");
                Vec::new()
            }
        };
        let scores = MemoryStore::new().with_scores(scores);
        Ok(frozen.with_scores_of(Arc::new(scores)))
    }

    /// A skill file by its SHA-256; `None` where the library does not have it.
    ///
    /// # Errors
    /// `Corrupt` for a damaged file; `Unavailable` where it cannot be read or another process has opened the library
    /// meanwhile.
    pub fn file(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        let file = self.database.file(sha256);
        self.refuse_other_processes("LibraryReader::file")?;
        file
    }

    /// Refuses files that were read as immutable if another process has opened the library meanwhile: it may have
    /// changed them.
    fn refuse_other_processes(&self, operation: &'static str) -> Result<()> {
        if self.log.as_ref().is_some_and(|log| log.exists()) {
            return Err(Error::new(
                ErrorKind::Unavailable,
                operation,
                "another process opened the library while it was being read",
            )
            .temporary()
            .hint("try again"));
        }
        Ok(())
    }
}
