//! Another library, read without changing it.

use std::path::{Path, PathBuf};

use journeyman::{
    Error, ErrorKind, Result, Revision, builtin::FrozenStore, contract::Snapshot,
    library::SkillLibrary,
};

use crate::{
    convert::failed,
    database::Database,
    head::{self, Witness},
    read_only::{open_to_read, refuse_others},
    skill_store::{DATABASE, no_library},
};

const READ: &str = "LibraryReader::open";

/// A library as it is at one moment, read without changing it or its folders: also one that this user may not write.
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
    /// Where whoever opens the library meanwhile keeps a log; `None` where somebody had it open already.
    log: Option<PathBuf>,
}

impl LibraryReader {
    /// Reads the library in this folder.
    ///
    /// # Errors
    /// `NotFound` where there is none; `Invalid` for a database that is none; `Unsupported` for one of another version, an
    /// older one too, for that would have to be upgraded; `Corrupt` for a damaged one; `Unavailable` where it cannot be
    /// read.
    pub fn open(root: &Path) -> Result<Self> {
        let path = root.join(DATABASE);
        if !path.is_file() {
            return Err(no_library(READ, root));
        }
        let log = path.with_extension("db-wal");
        loop {
            // Whoever has it open keeps a log. Where there is none the files are read as they lie, and none is made.
            let alone = (!log.exists()).then(|| log.clone());
            let is_alone = alone.is_some();
            let read = Self::read(&path, alone);
            if !(is_alone && log.exists()) {
                return read;
            }
        }
    }

    fn read(path: &Path, log: Option<PathBuf>) -> Result<Self> {
        // Read before the database, which other processes may be adding to.
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
            database,
            log,
        })
    }

    /// The library's skills.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The library as a store that runs can evaluate with, and that nothing is committed to.
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
    /// `Corrupt` for a damaged library; `Unavailable` where it cannot be read, and where another process has opened it meanwhile.
    pub fn frozen(&mut self) -> Result<FrozenStore> {
        let committed = self.database.since(Revision(0));
        self.refuse_company("LibraryReader::frozen")?;
        let mut committed = committed?;
        // As the skills were when it was opened, whoever goes on.
        let revision = self.library.revision();
        committed.retain(|committed| committed.revision <= revision);
        Ok(FrozenStore::new(Snapshot {
            revision,
            committed,
        }))
    }

    /// A skill's file by its hash, where it is there.
    ///
    /// # Errors
    /// `Corrupt` for a damaged one; `Unavailable` where it cannot be read, and where another process has opened the library
    /// meanwhile.
    pub fn file(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        let file = self.database.file(sha256);
        self.refuse_company("LibraryReader::file")?;
        file
    }

    /// Files that are read as they lie may be changed by whoever opened the library meanwhile.
    fn refuse_company(&self, operation: &'static str) -> Result<()> {
        if self.log.as_ref().is_some_and(|log| log.exists()) {
            return Err(Error::new(
                ErrorKind::Unavailable,
                operation,
                "another process has opened the library while it was read",
            )
            .temporary()
            .hint("try again"));
        }
        Ok(())
    }
}
