//! [`DiskStore`]: a skill library in a folder on disk.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use journeyman::{
    Error, ErrorKind, Result, RunId,
    contract::{Journal, JournalEntry, KeptScores, SkillFiles, SkillStore, Snapshot},
    domain::{Commit, Committed, FileRef, Revision},
};

use crate::{
    DiskOptions, Erased, FolderReport,
    convert::file_failed,
    database::Database,
    fault,
    folders::Folders,
    scores::Scores,
    worker::{Worker, WorkerState},
};

/// File name of the database within a library's folder.
pub(crate) const DATABASE: &str = "library.db";

/// A skill library in a folder: its commits, its skill files and the journal of its runs, in one database.
///
/// Several processes may open the same library, and one process may open it several times. Each store has a thread of
/// its own, which ends when the store is dropped, after all requests are done.
#[derive(Debug)]
pub struct DiskStore {
    pub(crate) worker: Worker,
    patience: Duration,
    root: PathBuf,
}

impl DiskStore {
    /// Opens the library in this folder; creates it where none exists.
    ///
    /// # Errors
    /// `Unsupported`: a library of a newer release, or a folder on a network file system, where SQLite's locks do not
    /// hold. `Invalid`: a database that is not a library. `Corrupt`: a damaged library. `NotFound`: no library exists
    /// and [`DiskOptions::create`] is false. `Unavailable`: the folder cannot be used.
    pub fn open(root: impl Into<PathBuf>, options: &DiskOptions) -> Result<Self> {
        const OPEN: &str = "DiskStore::open";
        let root = root.into();
        if options.create {
            make_folder(&root).map_err(|source| file_failed(OPEN, &root, source))?;
        } else if !root.join(DATABASE).is_file() {
            return Err(no_library(OPEN, &root));
        }
        refuse_network(&root)?;
        fault::point("open: the folder is there");
        let mut state = WorkerState {
            database: Database::open(&root.join(DATABASE), options)?,
            folders: None,
            scores: Scores::of(&root),
        };
        if options.folders {
            state.folders = Some(Folders::open(&root)?);
        }
        fault::point("open: done");
        Ok(Self {
            worker: Worker::start(state)?,
            patience: options.patience,
            root,
        })
    }

    /// Commits the edits that people made in the skill folders, and writes the folders that are out of date. The
    /// library's thread does this once by itself, when it is idle soon after opening; after that it checks only folders
    /// that it is about to write. A host that must not miss an edit calls this before its first task.
    ///
    /// # Errors
    /// `Unsupported` for a library that was opened without folders; `Unavailable` when the folders cannot be accessed.
    /// A fault of a single folder is in the report.
    pub async fn sync_folders(&self) -> Result<FolderReport> {
        const SYNC: &str = "DiskStore::sync_folders";
        let patience = self.patience;
        let syncing = move |state: &mut WorkerState| match &mut state.folders {
            Some(folders) => folders.sync(&mut state.database, true, patience),
            None => Err(
                Error::unsupported(SYNC, "the library was opened without folders")
                    .hint("open it with `DiskOptions::folders` set to true"),
            ),
        };
        self.worker.ask(SYNC, syncing).await
    }

    /// Rewrites all skill folders from the library, also for a store that was opened without folders. The present
    /// folders are not committed; they are moved to `.journeyman/replaced` within the library's folder, and kept there
    /// until a text is erased.
    ///
    /// # Errors
    /// `Unavailable` when the folders cannot be accessed. A fault of a single folder is in the report.
    pub async fn rebuild_folders(&self) -> Result<FolderReport> {
        let (patience, root) = (self.patience, self.root.clone());
        let rebuilding = move |state: &mut WorkerState| match &mut state.folders {
            Some(folders) => folders.rebuild(&mut state.database, patience),
            None => Folders::open(&root)?.rebuild(&mut state.database, patience),
        };
        self.worker
            .ask("DiskStore::rebuild_folders", rebuilding)
            .await
    }

    /// The library's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// Creates the library's folder. Before a database is created, the entries of all parent folders are synced to the
/// disk: SQLite syncs only the entries within the folder. Existing parents are synced too, because a process that
/// created them may have been killed before its sync.
fn make_folder(root: &Path) -> io::Result<()> {
    std::fs::create_dir_all(root)?;
    if root.join(DATABASE).exists() {
        return Ok(());
    }
    let root = std::path::absolute(root)?;
    for folder in root.ancestors().skip(1) {
        // A folder that this user may not read was not created here.
        if let Ok(folder) = File::open(folder) {
            folder.sync_all()?;
        }
    }
    Ok(())
}

impl DiskStore {
    /// Erases a text from every commit, journal entry and skill file, and from the folders. A commit records that
    /// something was erased, how much and why, and not the text. Records that held it are rewritten with `[erased]` in
    /// its place, and the old bytes are overwritten on the disk. For personal data, on request; history is never
    /// changed otherwise.
    ///
    /// An erasure does not reach other copies. Other processes that have read the library follow at their next read. An
    /// index on disk has to be rebuilt. Archives, backups and the copy of an older schema beside the database are for
    /// the host to handle.
    ///
    /// # Errors
    /// `Invalid`: the text has fewer than 4 bytes or is part of the library's own structure; nothing is changed.
    /// `Unavailable`: the library cannot be written; or a folder could not be read or another process is reading, in
    /// which case the text is erased from the records and the call has to be repeated. `Corrupt`: the library is
    /// damaged.
    pub async fn erase(&self, text: &str, reason: &str) -> Result<Erased> {
        let (text, reason) = (text.to_owned(), reason.to_owned());
        let patience = self.patience;
        let root = self.root.clone();
        let erasing = move |state: &mut WorkerState| {
            let WorkerState {
                database, folders, ..
            } = state;
            // A store that was opened without folders may have folders from an earlier opening.
            let mut own = match folders.is_none() && root.join("skills").exists() {
                true => Some(Folders::open(&root)?),
                false => None,
            };
            let mut folders = folders.as_mut().or(own.as_mut());
            if let Some(folders) = &mut folders {
                // The edits that people made are erased too, so they are committed first.
                folders.sync(database, true, patience)?;
            }
            let erased = database.erase(&text, &reason)?;
            let mut report = FolderReport::default();
            if let Some(folders) = &mut folders {
                report = folders.sync(database, true, patience)?;
                folders.forget_previous(&mut report)?;
            }
            // Also where no record held the text: an earlier call may have failed before this step.
            database.scrub()?;
            match report.faults.into_iter().next() {
                None => Ok(erased),
                Some(fault) => Err(Error::new(
                    ErrorKind::Unavailable,
                    "DiskStore::erase",
                    "the text is erased from the library, but a folder could not be read",
                )
                .with("folder", fault.folder)
                .hint("correct or remove the folder, and erase the text again")
                .source_from(fault.error)),
            }
        };
        self.worker.ask("DiskStore::erase", erasing).await
    }
}

pub(crate) fn no_library(operation: &'static str, root: &Path) -> Error {
    Error::new(
        ErrorKind::NotFound,
        operation,
        "there is no skill library here",
    )
    .with("path", root.display())
    .hint("name the folder that holds `library.db`; `journeyman library create` makes an empty library")
}

/// Refuses network file systems: SQLite's locks and shared memory do not hold there.
fn refuse_network(root: &Path) -> Result<()> {
    const NETWORK: [(u64, &str); 9] = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB2"),
        (0x5346_414f, "AFS"),
        (0x7375_7245, "Coda"),
        (0x564c, "NCP"),
        (0x00c3_6400, "Ceph"),
        (0x0bd0_0bd0, "Lustre"),
    ];
    let Ok(found) = rustix::fs::statfs(root) else {
        return Ok(());
    };
    // The width of `f_type` differs between machines; the numbers have at most 32 bits.
    let kind = (found.f_type as u64) & 0xffff_ffff;
    match NETWORK.iter().find(|(number, _)| *number == kind) {
        None => Ok(()),
        Some((_, name)) => Err(Error::unsupported(
            "DiskStore::open",
            "the library's folder is on a network file system, where its locks do not hold",
        )
        .with("path", root.display())
        .with("file_system", name)
        .hint("keep the library on a local disk, and share it through a server")),
    }
}

#[async_trait]
impl SkillStore for DiskStore {
    fn is_read_only(&self) -> bool {
        false
    }

    async fn load(&self) -> Result<Snapshot> {
        let load = |state: &mut WorkerState| {
            let committed = state.database.since(Revision(0))?;
            Ok(Snapshot::new(
                committed.last().map_or(Revision(0), |last| last.revision),
                committed,
            ))
        };
        self.worker.ask("SkillStore::load", load).await
    }

    async fn since(&self, revision: Revision) -> Result<Vec<Committed>> {
        let since = move |state: &mut WorkerState| state.database.since(revision);
        self.worker.ask("SkillStore::since", since).await
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let commit = commit.clone();
        let committing = move |state: &mut WorkerState| state.database.commit(&commit);
        self.worker.ask("SkillStore::commit", committing).await
    }

    async fn kept_scores(&self) -> Result<Vec<KeptScores>> {
        let reading = |state: &mut WorkerState| state.scores.read();
        self.worker.ask("SkillStore::kept_scores", reading).await
    }

    async fn keep_scores(&self, scores: &[KeptScores]) -> Result<()> {
        let scores = scores.to_vec();
        let keeping = move |state: &mut WorkerState| state.scores.append(&scores);
        self.worker.ask("SkillStore::keep_scores", keeping).await
    }
}

#[async_trait]
impl SkillFiles for DiskStore {
    async fn put(&self, bytes: &[u8]) -> Result<FileRef> {
        let bytes = bytes.to_vec();
        let putting = move |state: &mut WorkerState| state.database.put_file(&bytes);
        self.worker.ask("SkillFiles::put", putting).await
    }

    async fn get(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        let sha256 = sha256.to_owned();
        let getting = move |state: &mut WorkerState| state.database.file(&sha256);
        self.worker.ask("SkillFiles::get", getting).await
    }
}

#[async_trait]
impl Journal for DiskStore {
    async fn append(&self, entries: &[JournalEntry]) -> Result<()> {
        let entries = entries.to_vec();
        let appending = move |state: &mut WorkerState| state.database.append(&entries);
        self.worker.ask("Journal::append", appending).await
    }

    async fn read(&self, run: &RunId) -> Result<Vec<JournalEntry>> {
        let run = run.clone();
        let reading = move |state: &mut WorkerState| state.database.read(&run);
        self.worker.ask("Journal::read", reading).await
    }

    async fn runs(&self) -> Result<Vec<RunId>> {
        let listing = |state: &mut WorkerState| state.database.runs();
        self.worker.ask("Journal::runs", listing).await
    }
}
