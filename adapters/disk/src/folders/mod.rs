//! The skills as folders: written after each commit, and what a person changes in them taken in.
//!
//! The database is what counts, the folders follow it. What is written is noted before (`going`) and after (`written`), by
//! hash: so a folder that holds anything else was changed by a person, whenever a crash came. A new folder takes the
//! place of the old one in one step (`RENAME_EXCHANGE`); the old one is kept aside until a later look and looked at again, since
//! an editor may still write into it.

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
    Error, Result, Revision, SkillId,
    domain::{Committed, LibraryChange},
    library::SkillLibrary,
};

pub(crate) use self::{
    area::{Area, place},
    people::says,
};
use self::{disk::Disk, rows::Rows};
use crate::database::Database;

/// What was done to bring folders and library together.
#[non_exhaustive]
#[derive(Debug, Default)]
pub struct FolderReport {
    /// The folders that a person changed, added, moved or removed, and that the library took in.
    pub taken_in: Vec<String>,
    /// How many folders were written.
    pub written: usize,
    /// How many folders were taken away.
    pub removed: usize,
    /// What could not be read or written. Such a folder is left as it is, and tried again next time.
    pub faults: Vec<FolderFault>,
}

/// A folder that could not be read or written.
#[derive(Debug)]
pub struct FolderFault {
    /// Which one, within the library's folder.
    pub folder: String,
    /// Why.
    pub error: Error,
}

impl FolderReport {
    fn fault(&mut self, folder: impl Into<String>, error: Error) {
        let folder = folder.into();
        tracing::warn!(folder, %error, "a skill's folder was left as it is");
        self.faults.push(FolderFault { folder, error });
    }

    fn add(&mut self, other: Self) {
        self.taken_in.extend(other.taken_in);
        self.written += other.written;
        self.removed += other.removed;
        self.faults.extend(other.faults);
    }
}

/// Takes everything in a library's folders out of the way, which nobody else may be at; gives the place where it is now,
/// where there is anything.
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

/// The skills of which something was erased.
fn erased(news: &[Committed]) -> impl Iterator<Item = SkillId> {
    let changes = news.iter().flat_map(|committed| &committed.changes);
    let skills = changes.flat_map(|change| match change {
        LibraryChange::Erased { skills } => skills.as_slice(),
        _ => &[],
    });
    skills.cloned()
}

/// The folders of one library.
#[derive(Debug)]
pub(crate) struct Folders {
    disk: Disk,
    /// The library as of the last look.
    library: SkillLibrary,
    /// The library as the folders show it; `None` before the first look.
    shown: Option<SkillLibrary>,
    /// Skills whose folders could not be brought up to date.
    pending: Vec<SkillId>,
    /// Skills of which something was erased since the last look.
    erased: Vec<SkillId>,
    /// Replaced folders that hold a secret, and are not kept.
    secret: Vec<String>,
    /// Whether a folder turned out not to lie where it should.
    is_missing: bool,
    rows: Rows,
    /// The rows as the database has them.
    stored: Rows,
    /// What the database's counter was when the rows were read.
    rows_as_of: Option<i64>,
}

impl Folders {
    /// # Errors
    /// `Unavailable` when the folders cannot be made.
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

    /// Brings folders and library together. A full look finds what a person changed anywhere; else only folders that are
    /// to be written are looked at. Another process that is at it is waited for no longer than `patience`; it takes over
    /// what was committed meanwhile.
    ///
    /// # Errors
    /// `Unavailable` when the folders cannot be reached or another process has them for too long, or as reading the
    /// database fails. A single folder's trouble is a fault of the report.
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
                // What is known of the folders may be half true: next time everything is looked at again.
                self.shown = None;
                self.rows_as_of = None;
                // Folded anew, so that what was erased is found again.
                self.library = SkillLibrary::new();
            }
            report.add(passed?);
            full = self.shown.is_none();
            // Whoever found the folders locked relies on this look.
            if !full && database.last()? <= self.library.revision() {
                return Ok(report);
            }
        }
    }

    /// Removes what was replaced and is still kept, where nobody wrote into it, and what lay in the folders before they were
    /// written anew: it may hold what was erased.
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

    /// Writes what was committed since the last look, where there is anything.
    ///
    /// # Errors
    /// As [`Folders::sync`].
    pub(crate) fn catch_up(&mut self, database: &mut Database) -> Result<()> {
        if self.shown.is_none() || database.last()? > self.library.revision() {
            self.sync(database, false, Duration::ZERO)?;
        }
        Ok(())
    }

    /// Folds what was committed since the last look.
    fn follow(&mut self, database: &mut Database) -> Result<Revision> {
        let mut news = database.since(self.library.revision())?;
        if news.iter().any(Committed::erases) {
            // The folders of what was erased are written anew, and what was replaced is not kept.
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
