//! Skills as folders: written after each commit; edits that people make in them are committed to the library.
//!
//! The database decides, and the folders follow it. The hash of a folder's content is stored before (`going`) and after
//! (`written`) the folder is written. A folder with any other content was therefore edited by a person, whenever a
//! crash came. A new folder replaces the old one in one step (`RENAME_EXCHANGE`). The old one is kept aside and checked
//! again by a later pass, because an editor may still write into it.

mod area;
mod disk;
mod pass;
mod people;
mod rebuild;
mod rows;
mod scan;
mod write;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use journeyman::{
    Error, Result, SkillId,
    domain::{Committed, LibraryChange, Revision},
    library::SkillLibrary,
};

pub(crate) use self::{
    area::{Area, place},
    people::agrees,
};
use self::{disk::Disk, rows::Rows};
use crate::database::Database;

/// The result of bringing folders and library together.
#[non_exhaustive]
#[derive(Debug, Default)]
pub struct FolderReport {
    /// Folders that a person changed, added, moved or removed, and whose edit was committed to the library.
    pub taken_in: Vec<String>,
    /// Number of folders written.
    pub written: usize,
    /// Number of folders removed.
    pub removed: usize,
    /// Folders that could not be read or written. Each is left unchanged and tried again next time.
    pub faults: Vec<FolderFault>,
}

/// A folder that could not be read or written.
#[non_exhaustive]
#[derive(Debug)]
pub struct FolderFault {
    /// Its path within the library's folder.
    pub folder: String,
    /// The reason.
    pub error: Error,
}

impl FolderReport {
    fn fault(&mut self, folder: impl Into<String>, error: Error) {
        let folder = folder.into();
        tracing::warn!(folder, %error, "a skill folder was left unchanged because of an error");
        self.faults.push(FolderFault { folder, error });
    }

    fn add(&mut self, other: Self) {
        self.taken_in.extend(other.taken_in);
        self.written += other.written;
        self.removed += other.removed;
        self.faults.extend(other.faults);
    }
}

/// Moves all skill folders aside and returns the path where they are now; `None` where there are none. No other process
/// may use them meanwhile.
///
/// # Errors
/// `Unavailable` when it cannot be moved.
pub(crate) fn put_aside(root: &Path) -> Result<Option<String>> {
    if !Area::ALL
        .iter()
        .any(|area| root.join(area.folder()).exists())
    {
        return Ok(None);
    }
    Disk::open(root)?.put_aside().map(Some)
}

/// Undoes [`put_aside`].
///
/// # Errors
/// `Unavailable` when it cannot be moved.
pub(crate) fn put_back(root: &Path, aside: &str) -> Result<()> {
    Disk::open(root)?.put_back(aside)
}

/// The skills whose text was erased in these commits.
fn erased(news: &[Committed]) -> impl Iterator<Item = SkillId> {
    let changes = news.iter().flat_map(|committed| &committed.changes);
    let skills = changes.flat_map(|change| match change {
        LibraryChange::Erased { skills } => skills.as_slice(),
        _ => &[],
    });
    skills.cloned()
}

/// The skill folders of one library.
#[derive(Debug)]
pub(crate) struct Folders {
    disk: Disk,
    /// The library as of the last pass.
    library: SkillLibrary,
    /// The library as the folders show it; `None` before the first pass.
    shown: Option<SkillLibrary>,
    /// Skills whose folders could not be brought up to date.
    pending: Vec<SkillId>,
    /// Skills whose text was erased since the last pass.
    erased: Vec<SkillId>,
    /// Replaced folders that hold a secret and are therefore removed.
    secret: Vec<String>,
    /// Whether a folder was found missing from its path.
    is_missing: bool,
    rows: Rows,
    /// The rows as stored in the database.
    stored: Rows,
    /// The database's `data_version` when the rows were read.
    rows_as_of: Option<i64>,
}

impl Folders {
    /// # Errors
    /// `Unavailable` when the folders cannot be created.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        Ok(Self {
            disk: Disk::open(root)?,
            library: SkillLibrary::new(),
            shown: None,
            pending: Vec::new(),
            erased: Vec::new(),
            secret: Vec::new(),
            is_missing: false,
            rows: Rows::new(),
            stored: Rows::new(),
            rows_as_of: None,
        })
    }

    /// Brings folders and library together. A full pass finds every edit that a person made; otherwise only folders
    /// that are about to be written are checked. Waits for another process at the folders no longer than `patience`;
    /// that process takes over the commits made meanwhile.
    ///
    /// # Errors
    /// `Unavailable` when the folders cannot be accessed or another process holds them too long, and the errors of
    /// reading the database. A fault of a single folder is in the report.
    pub(crate) fn sync(
        &mut self,
        database: &mut Database,
        full: bool,
        patience: Duration,
    ) -> Result<FolderReport> {
        let deadline = Instant::now() + patience;
        let mut report = FolderReport::default();
        let mut full = full;
        loop {
            let lock = match self.disk.lock_until(deadline)? {
                Some(lock) => lock,
                None if patience.is_zero() => return Ok(report),
                None => return Err(Disk::busy()),
            };
            let passed = self.pass(database, full);
            drop(lock);
            if passed.is_err() {
                // The rows may not match the folders any more: the next pass is a full one.
                self.shown = None;
                self.rows_as_of = None;
                // Replayed from the start, so that erasures are found again.
                self.library = SkillLibrary::new();
            }
            report.add(passed?);
            full = self.shown.is_none();
            // A process that found the folders locked relies on this pass.
            if !full && database.last()? <= self.library.revision() {
                return Ok(report);
            }
        }
    }

    /// Removes replaced folders that nobody wrote into, and everything that was moved aside: both may hold erased text.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be removed, or another process is at the folders.
    pub(crate) fn forget_previous(&mut self, report: &mut FolderReport) -> Result<()> {
        let Some(_lock) = self.disk.lock()? else {
            return Err(Disk::busy());
        };
        let mut ours = Vec::new();
        for (place, expected) in self.disk.previous()? {
            match self.changed_aside(&place, &expected) {
                Ok(None) => ours.push(place),
                Ok(Some(_)) => {}
                Err(error) => report.fault(place, error),
            }
        }
        self.disk.forget(&ours)?;
        self.disk.forget_replaced()
    }

    /// Writes the folders of skills that were committed since the last pass.
    ///
    /// # Errors
    /// As [`Folders::sync`].
    pub(crate) fn catch_up(&mut self, database: &mut Database) -> Result<()> {
        if self.shown.is_none() || database.last()? > self.library.revision() {
            self.sync(database, false, Duration::ZERO)?;
        }
        Ok(())
    }

    /// Applies the commits since the last pass.
    fn follow(&mut self, database: &mut Database) -> Result<Revision> {
        let mut news = database.since(self.library.revision())?;
        if news.iter().any(Committed::erases) {
            // Folders of skills with erased text are rewritten, and the replaced ones are not kept.
            self.erased.extend(erased(&news));
            self.library = SkillLibrary::new();
            news = database.since(Revision(0))?;
        }
        for committed in &news {
            self.library.apply(committed)?;
        }
        Ok(self.library.revision())
    }
}
