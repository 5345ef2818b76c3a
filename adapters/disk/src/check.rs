//! Looking a library over without changing anything.

use std::{collections::BTreeMap, path::Path};

use journeyman::{
    Error, ErrorKind, Result, Revision, RunId, SkillId,
    domain::{FileRef, SkillName},
    library::{Entry, SkillLibrary},
    sha256_hex,
};
use rusqlite::Connection;

use crate::{
    FolderFault, SkillFolder,
    convert::{DAMAGED, failed, file_failed},
    folders::{Area, place, says},
    head::{self, Witness},
    read_only::{open_to_read, refuse_others},
    records::{last_revision, missing, missing_entry, read_commit, read_entry},
    skill_store::{DATABASE, no_library},
    statements::each,
};

const CHECK: &str = "check";

/// What a look at a whole library found.
#[non_exhaustive]
#[derive(Debug, Default)]
pub struct CheckReport {
    /// Up to which revision the commits are sound.
    pub revision: Revision,
    /// How many sound entries the journal has.
    pub entries: u64,
    /// How many sound files of skills there are.
    pub files: u64,
    /// How many skills' folders were looked at.
    pub folders: u64,
    /// What is wrong with the database; empty for a sound one.
    pub faults: Vec<Error>,
    /// The folders that cannot be taken in.
    pub folder_faults: Vec<FolderFault>,
    /// The folders that differ from the library without being wrong, such as one that a person changed: the next opening
    /// takes them in or writes them.
    pub pending: Vec<String>,
}

/// Looks at every commit, every entry of the journal, every file and every folder of a library, and lets SQLite look at
/// the database. Nothing is changed, also not by taking in what people changed in the folders; other processes go on.
///
/// # Errors
/// `NotFound` where there is no library; `Invalid` for a database that is none; `Unsupported` for one of another version;
/// `Corrupt` where nothing of it can be read; `Unavailable` where it cannot be opened. Everything else stands in the
/// report.
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
        // Whoever has it open keeps a log. Where there is none the files are read as they lie, and none is made.
        let alone = !log.exists();
        let checked = check_database(root, &database, alone);
        if !(alone && log.exists()) {
            return checked;
        }
    }
}

fn check_database(root: &Path, path: &Path, alone: bool) -> Result<CheckReport> {
    // Read before the database, which other processes may be adding to.
    let acknowledged = Witness::of(path).writes();
    let database = open_to_read(CHECK, path, alone)?;
    refuse_others(CHECK, &database, path)?;
    let connection = &database.connection;
    let mut report = CheckReport::default();
    let view = connection
        .unchecked_transaction()
        .map_err(|source| failed(CHECK, source))?;
    look(&mut report, integrity(&view));
    let there = acknowledged.and_then(|writes| counted(&view, &database.witness, writes));
    look(&mut report, there);
    let mut library = SkillLibrary::new();
    let commits = commits(&view, &mut library, &mut report);
    look(&mut report, commits);
    let entries = entries(&view, &mut report);
    look(&mut report, entries);
    let mut kept = BTreeMap::new();
    let files = files(&view, &mut kept, &mut report);
    look(&mut report, files);
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

/// What ended a part of the look is a fault as well.
fn look(report: &mut CheckReport, ended: Result<()>) {
    report.faults.extend(ended.err());
}

/// What was acknowledged, and what was counted, is there.
fn counted(view: &Connection, witness: &Witness, acknowledged: u64) -> Result<()> {
    let writes = head::writes(view).map_err(|source| failed(CHECK, source))?;
    if writes < acknowledged {
        return Err(witness.missing(acknowledged, writes));
    }
    last_revision(CHECK, view).map(drop)
}

/// SQLite's own look at the database.
fn integrity(view: &Connection) -> Result<()> {
    each(CHECK, view, "PRAGMA integrity_check(1)", |row| {
        let said: String = row.get(0).map_err(|source| failed(CHECK, source))?;
        if said == "ok" {
            return Ok(());
        }
        let message = "the database's pages do not fit together";
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
            true => library.apply(&committed).map(drop).map_err(does_not_fold),
            false => Ok(()),
        });
        if let Err(error) = folded {
            report.faults.push(error);
            whole = false;
        }
        Ok(())
    })
}

/// A commit that no library takes cannot have been made.
pub(crate) fn does_not_fold(error: Error) -> Error {
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
            let gap = missing_entry(CHECK, &run, due.unsigned_abs());
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
                .push(missing_entry(CHECK, &run, there.unsigned_abs()));
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
            let message = "a skill's file differs from what was put";
            let fault = Error::new(ErrorKind::Corrupt, CHECK, message).with("sha256", sha256);
            report.faults.push(fault.hint(DAMAGED));
        }
        Ok(())
    })
}

/// Every version's files are there.
fn named_files(library: &SkillLibrary, kept: &BTreeMap<String, u64>, report: &mut CheckReport) {
    for file in all_files(library) {
        if kept.get(&file.sha256) != Some(&file.bytes) {
            report.faults.push(lost_file(CHECK, file));
        }
    }
}

/// The files of every version that a library knows.
pub(crate) fn all_files(library: &SkillLibrary) -> std::collections::BTreeSet<&FileRef> {
    let entries = library.entries().chain(library.deleted());
    let versions = entries.flat_map(Entry::versions);
    versions.flat_map(|skill| skill.files.values()).collect()
}

pub(crate) fn lost_file(operation: &'static str, file: &FileRef) -> Error {
    let message = "a file that a skill names is not there";
    Error::new(ErrorKind::Corrupt, operation, message)
        .with("sha256", &file.sha256)
        .hint("put the file again: the hash tells which it was; a backup of `library.db` has it")
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
            match folder_says(&entry.path(), kind.is_dir(), &name, &folder, library) {
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

/// Whether a folder says what the library says.
fn folder_says(
    path: &Path,
    is_folder: bool,
    name: &str,
    folder: &str,
    library: &SkillLibrary,
) -> Result<bool> {
    if !is_folder {
        return Err(
            Error::invalid(CHECK, "this is a link, a device or a socket")
                .hint("put a plain folder in its place"),
        );
    }
    let name = SkillName::new(name)?;
    let content = SkillFolder::read(path)?;
    let text = std::str::from_utf8(&content.text)
        .map_err(|_| Error::invalid(CHECK, "SKILL.md is not UTF-8").hint("save it as UTF-8"))?;
    journeyman::format::SkillMd::read(text, Some(name.as_str()))?;
    let entry = library.by_name(&name);
    Ok(entry
        .is_some_and(|entry| place(&entry.skill) == folder && says(&content, &name, &entry.skill)))
}
