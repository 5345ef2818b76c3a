//! Read-only check of a library: database, journal, files and folders.

use std::{collections::BTreeMap, path::Path};

use journeyman::{
    Error, ErrorKind, Result, RunId, SkillId,
    domain::{FileRef, Revision, SkillName, sha256_hex},
    library::{Entry, SkillLibrary},
};
use rusqlite::Connection;

use crate::{
    FolderFault, SkillFolder,
    convert::{DAMAGED, failed, file_failed},
    folders::{Area, agrees, place},
    head::{self, Witness},
    read_only::{open_to_read, refuse_others},
    records::{entry_missing, last_revision, missing, read_commit, read_entry},
    skill_store::{DATABASE, no_library},
    statements::each,
};

const CHECK: &str = "check";

/// The findings of [`check`].
#[non_exhaustive]
#[derive(Debug, Default)]
pub struct CheckReport {
    /// The last revision up to which every commit is sound.
    pub revision: Revision,
    /// Number of sound journal entries.
    pub entries: u64,
    /// Number of sound skill files.
    pub files: u64,
    /// Number of skill folders that were checked.
    pub folders: u64,
    /// Faults of the database; empty for a sound one.
    pub faults: Vec<Error>,
    /// Folders that cannot be read as a skill.
    pub folder_faults: Vec<FolderFault>,
    /// Folders that differ from the library without a fault, such as one that a person edited. The next opening commits
    /// the edit or rewrites the folder. Paths are relative to the library's folder, sorted.
    pub pending: Vec<String>,
}

/// Checks every commit, journal entry, skill file and folder of a library, and runs SQLite's integrity check. Changes
/// nothing: edits that people made in the folders are reported and not committed. Other processes may use the library
/// meanwhile.
///
/// # Errors
/// `NotFound`: no library is there. `Invalid`: the database is not a library. `Unsupported`: another schema version.
/// `Corrupt`: nothing can be read. `Unavailable`: the database cannot be opened. All other faults are in the report.
///
/// ```
/// use journeyman_disk::{DiskStore, DiskOptions, check};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// drop(DiskStore::open(folder, &DiskOptions::default())?);
/// assert!(check(folder)?.faults.is_empty());
/// # Ok::<_, journeyman::Error>(())
/// ```
pub fn check(root: &Path) -> Result<CheckReport> {
    let database = root.join(DATABASE);
    if !database.is_file() {
        return Err(no_library(CHECK, root));
    }
    let log = database.with_extension("db-wal");
    loop {
        // A process that has the library open keeps a write-ahead log. Without one the files are read as immutable, so
        // that no log is created.
        let alone = !log.exists();
        let checked = check_database(root, &database, alone);
        if !(alone && log.exists()) {
            return checked;
        }
    }
}

fn check_database(root: &Path, path: &Path, alone: bool) -> Result<CheckReport> {
    // Read before the database: other processes may add writes in between.
    let acknowledged = Witness::of(path).writes();
    let database = open_to_read(CHECK, path, alone)?;
    refuse_others(CHECK, &database, path)?;
    let connection = &database.connection;
    let mut report = CheckReport::default();
    let view = connection
        .unchecked_transaction()
        .map_err(|source| failed(CHECK, source))?;
    add_failure(&mut report, integrity(&view));
    let there =
        acknowledged.and_then(|writes| check_acknowledged(&view, &database.witness, writes));
    add_failure(&mut report, there);
    let mut library = SkillLibrary::new();
    let commits = commits(&view, &mut library, &mut report);
    add_failure(&mut report, commits);
    let entries = entries(&view, &mut report);
    add_failure(&mut report, entries);
    let mut kept = BTreeMap::new();
    let files = files(&view, &mut kept, &mut report);
    add_failure(&mut report, files);
    named_files(&library, &kept, &mut report);
    report.revision = library.revision();
    match database.rows() {
        Ok(rows) => {
            let away = |id: &SkillId| rows.get(id).is_some_and(|row| row.place.is_none());
            let used = !rows.is_empty();
            folders(root, &library, used, away, &mut report)?;
        }
        Err(error) => report.faults.push(error),
    }
    Ok(report)
}

/// Adds the error that ended one part of the check to the report.
fn add_failure(report: &mut CheckReport, ended: Result<()>) {
    report.faults.extend(ended.err());
}

/// Checks that the acknowledged writes and the counted revisions are there.
fn check_acknowledged(view: &Connection, witness: &Witness, acknowledged: u64) -> Result<()> {
    let writes = head::writes(view).map_err(|source| failed(CHECK, source))?;
    if writes < acknowledged {
        return Err(witness.missing(acknowledged, writes));
    }
    last_revision(CHECK, view).map(drop)
}

/// SQLite's integrity check.
fn integrity(view: &Connection) -> Result<()> {
    each(CHECK, view, "PRAGMA integrity_check(1)", |row| {
        let said: String = row.get(0).map_err(|source| failed(CHECK, source))?;
        if said == "ok" {
            return Ok(());
        }
        let message = "SQLite's integrity check failed";
        Err(Error::new(ErrorKind::Corrupt, CHECK, message)
            .with("sqlite", said.replace('\n', " "))
            .hint(DAMAGED))
    })
}

fn commits(view: &Connection, library: &mut SkillLibrary, report: &mut CheckReport) -> Result<()> {
    let query = "SELECT revision, body, hash, key FROM commits ORDER BY revision";
    let mut due = Revision(1);
    let mut whole = true;
    each(CHECK, view, query, |row| {
        let revision: i64 = row.get(0).map_err(|source| failed(CHECK, source))?;
        let revision = Revision(revision.unsigned_abs());
        if revision != due {
            report.faults.push(missing(CHECK, due));
            whole = false;
        }
        due = revision.next();
        let folded = read_commit(CHECK, row).and_then(|committed| match whole {
            true => library
                .apply(&committed)
                .map(drop)
                .map_err(cannot_be_applied),
            false => Ok(()),
        });
        if let Err(error) = folded {
            report.faults.push(error);
            whole = false;
        }
        Ok(())
    })
}

/// The error for a commit that cannot be applied, and so was never made this way.
pub(crate) fn cannot_be_applied(error: Error) -> Error {
    let damaged = Error::new(ErrorKind::Corrupt, CHECK, error.message().to_owned());
    let revision = error.fact("revision").unwrap_or_default();
    damaged.with("revision", revision).hint(DAMAGED)
}

fn entries(view: &Connection, report: &mut CheckReport) -> Result<()> {
    let query = "SELECT sequence, body, hash, run FROM journal ORDER BY run, sequence";
    let mut due = BTreeMap::new();
    each(CHECK, view, query, |row| {
        let failed = |source| failed(CHECK, source);
        let sequence: i64 = row.get(0).map_err(failed)?;
        let run = RunId::new(row.get::<_, String>(3).map_err(failed)?);
        let due = due.entry(run.clone()).or_insert(0);
        if *due != sequence {
            let gap = entry_missing(CHECK, &run, due.unsigned_abs());
            report.faults.push(gap);
        }
        *due = sequence + 1;
        match read_entry(CHECK, &run, row) {
            Ok(_) => report.entries += 1,
            Err(error) => report.faults.push(error),
        }
        Ok(())
    })?;
    each(CHECK, view, "SELECT run, entries FROM runs", |row| {
        let failed = |source| failed(CHECK, source);
        let run = RunId::new(row.get::<_, String>(0).map_err(failed)?);
        let counted: i64 = row.get(1).map_err(failed)?;
        let there = due.get(&run).copied().unwrap_or(0);
        if there != counted {
            report
                .faults
                .push(entry_missing(CHECK, &run, there.unsigned_abs()));
        }
        Ok(())
    })
}

fn files(
    view: &Connection,
    kept: &mut BTreeMap<String, u64>,
    report: &mut CheckReport,
) -> Result<()> {
    each(CHECK, view, "SELECT sha256, bytes FROM files", |row| {
        let failed = |source| failed(CHECK, source);
        let sha256: String = row.get(0).map_err(failed)?;
        let bytes: Vec<u8> = row.get(1).map_err(failed)?;
        if sha256_hex(&bytes) == sha256 {
            kept.insert(sha256, bytes.len() as u64);
            report.files += 1;
        } else {
            let message = "a skill file differs from its hash";
            let fault = Error::new(ErrorKind::Corrupt, CHECK, message).with("sha256", sha256);
            report.faults.push(fault.hint(DAMAGED));
        }
        Ok(())
    })
}

/// Reports files that any version of a skill names and the database lacks.
fn named_files(library: &SkillLibrary, kept: &BTreeMap<String, u64>, report: &mut CheckReport) {
    for file in all_files(library) {
        if kept.get(&file.sha256) != Some(&file.bytes) {
            report.faults.push(lost_file(CHECK, file));
        }
    }
}

/// The files that any version of any skill names, deleted skills included.
pub(crate) fn all_files(library: &SkillLibrary) -> std::collections::BTreeSet<&FileRef> {
    let entries = library.entries().chain(library.deleted());
    let versions = entries.flat_map(Entry::versions);
    versions.flat_map(|skill| skill.files.values()).collect()
}

pub(crate) fn lost_file(operation: &'static str, file: &FileRef) -> Error {
    let message = "a file that a skill names is missing";
    Error::new(ErrorKind::Corrupt, operation, message)
        .with("sha256", &file.sha256)
        .hint("put the file with this hash again, for example from a backup of `library.db`")
}

fn folders(
    root: &Path,
    library: &SkillLibrary,
    used: bool,
    away: impl Fn(&SkillId) -> bool,
    report: &mut CheckReport,
) -> Result<()> {
    let there = |area: &Area| root.join(area.folder()).is_dir();
    if !used && !Area::ALL.iter().any(there) {
        return Ok(());
    }
    let mut seen = std::collections::BTreeSet::new();
    for area in Area::ALL.into_iter().filter(there) {
        let path = root.join(area.folder());
        let unread = |source| file_failed(CHECK, &path, source);
        for entry in path.read_dir().map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().map_err(unread)?;
            if name.starts_with('.') || kind.is_file() {
                continue;
            }
            report.folders += 1;
            let folder = format!("{}/{name}", area.folder());
            match folder_agrees(&entry.path(), kind.is_dir(), &name, &folder, library) {
                Ok(true) => {}
                Ok(false) => report.pending.push(folder.clone()),
                Err(error) => report.folder_faults.push(FolderFault {
                    folder: folder.clone(),
                    error,
                }),
            }
            seen.insert(folder);
        }
    }
    let lacking = library
        .entries()
        .filter(|entry| !seen.contains(&place(&entry.skill)) && !away(&entry.skill.id));
    report
        .pending
        .extend(lacking.map(|entry| place(&entry.skill)));
    report.pending.sort_unstable();
    Ok(())
}

/// Whether a folder has the content and the path that the library gives its skill.
fn folder_agrees(
    path: &Path,
    is_folder: bool,
    name: &str,
    folder: &str,
    library: &SkillLibrary,
) -> Result<bool> {
    if !is_folder {
        return Err(
            Error::invalid(CHECK, "the path is a link, a device or a socket")
                .hint("replace it with a plain folder"),
        );
    }
    let name = SkillName::new(name)?;
    let content = SkillFolder::read(path)?;
    let text = std::str::from_utf8(&content.text)
        .map_err(|_| Error::invalid(CHECK, "SKILL.md is not UTF-8").hint("save it as UTF-8"))?;
    journeyman::library::format::SkillMd::read(text, Some(name.as_str()))?;
    let entry = library.by_name(&name);
    Ok(entry.is_some_and(|entry| {
        place(&entry.skill) == folder && agrees(&content, &name, &entry.skill)
    }))
}
