//! Salvage: saving the readable part of a damaged library.

use std::{collections::BTreeSet, os::unix::fs::MetadataExt, path::Path, time::Duration};

use journeyman::{
    Error, ErrorKind, Result, RunId,
    domain::{Committed, FileRef, Revision},
    library::SkillLibrary,
};
use rusqlite::{Connection, OptionalExtension, Transaction, config::DbConfig};

use crate::{
    DiskOptions,
    check::{all_files, cannot_be_applied, lost_file},
    convert::{failed, file_failed, to_json},
    database::{Database, is_emptied},
    head::{self, Witness},
    records::{missing, read_commit},
    skill_store::{DATABASE, no_library},
    statements::{count_entries, insert_commit, insert_file},
};

mod files;
mod header;
mod journal;
mod replace;
mod report;

use files::{SALVAGE, beside, remove};
use journal::greatest;
pub use report::Salvaged;

/// Reads the readable part of the library in `from`, a copy of the damaged library in `root` with all its files, and
/// replaces the database in `root` with a new one that holds it: the commits up to the first that is unreadable, each
/// run's entries up to the first that is, and every readable file. No other process may have `root` open meanwhile. The
/// skill folders are moved to `.journeyman/replaced` within the library's folder, because edits in them can no longer
/// be recognized; [`DiskStore::rebuild_folders`](crate::DiskStore::rebuild_folders) or the next opening rewrites them.
///
/// A crash while files are being replaced leaves a library that is refused as `Corrupt`.
///
/// # Errors
/// `NotFound`: no library is there. `Invalid`: the copy is the library itself. `Corrupt`: nothing can be read.
/// `Unavailable`: another process has the library open or wrote to it after it was copied, or the new database could
/// not be written. On an error `root` is unchanged.
pub fn salvage(from: &Path, root: &Path) -> Result<Salvaged> {
    let damaged = from.join(DATABASE);
    let place = root.join(DATABASE);
    for (folder, database) in [(from, &damaged), (root, &place)] {
        if !database.is_file() {
            return Err(no_library(SALVAGE, folder));
        }
    }
    refuse_same(&damaged, &place)?;
    let mended = root.join("library.mended.db");
    let salvaged = header::open(&damaged, &mended).and_then(|damaged| put(&damaged, root, &place));
    let forgotten = header::forget(&mended);
    let salvaged = salvaged?;
    forgotten?;
    Ok(salvaged)
}

/// Replaces a database with the readable part of a damaged one.
fn put(damaged: &Database, root: &Path, place: &Path) -> Result<Salvaged> {
    refuse_changed(place, damaged)?;
    let new = root.join("library.salvaged.db");
    let files = [
        new.clone(),
        beside(&new, "-wal"),
        beside(&new, "-shm"),
        new.with_extension("head"),
    ];
    for path in &files {
        remove(path)?;
    }
    let salvaged = {
        let mut new = Database::open(&new, &DiskOptions::default())?;
        let salvaged = copy(damaged, &mut new)?;
        new.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(|source| failed(SALVAGE, source))?;
        salvaged
    };
    // Another process may have written during the copying.
    refuse_changed(place, damaged)?;
    replace::replace(root, place, &new)?;
    Ok(salvaged)
}

/// Refuses a copy that is the library itself: the unreadable rest would be lost.
fn refuse_same(copy: &Path, place: &Path) -> Result<()> {
    let file = |path: &Path| -> Result<(u64, u64)> {
        let data = path.metadata();
        let data = data.map_err(|source| file_failed(SALVAGE, path, source))?;
        Ok((data.dev(), data.ino()))
    };
    if file(copy)? != file(place)? {
        return Ok(());
    }
    Err(
        Error::invalid(SALVAGE, "the copy is the damaged library itself")
            .with("path", copy.display())
            .hint("copy the library's folder to another place first, and name the copy"),
    )
}

/// Refuses a library that another process has open or wrote to after the copy: those writes would be lost.
fn refuse_changed(place: &Path, copy: &Database) -> Result<()> {
    let there = || {
        if is_emptied(place) {
            return Ok(0);
        }
        let connection = Connection::open(place)?;
        connection.busy_timeout(Duration::ZERO)?;
        // The log belongs to the damaged database and stays with it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.execute_batch("BEGIN EXCLUSIVE; ROLLBACK")?;
        head::writes(&connection)
    };
    let unavailable = |message: &str| {
        Error::new(ErrorKind::Unavailable, SALVAGE, message)
            .with("path", place.display())
            .temporary()
    };
    let there = match there().map_err(|source| failed(SALVAGE, source)) {
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            let message = "another process has the library open, or it cannot be written";
            return Err(
                unavailable(message).hint("end the programs that use the library, and try again")
            );
        }
        // The database may be too damaged to open.
        Err(_) => 0,
        Ok(writes) => writes,
    };
    // After an interrupted salvage, its copy may be salvaged again.
    let said = Witness::of(place).writes().unwrap_or(0);
    let there = match said {
        head::SALVAGING => there,
        said => said.max(there),
    };
    let copied = head::writes(&copy.connection).unwrap_or(0);
    let copied = copy
        .witness
        .writes()
        .map_or(copied, |said| said.max(copied));
    if there <= copied {
        return Ok(());
    }
    Err(unavailable("the copy has fewer writes than the library, which was written to after it was copied")
        .with("copied", copied)
        .with("found", there)
        .hint("end the programs that use the library, copy it again with its `library.head`, and try again"))
}

fn copy(damaged: &Database, new: &mut Database) -> Result<Salvaged> {
    let mut salvaged = Salvaged::default();
    let writes = head::writes(&damaged.connection).map_err(|source| failed(SALVAGE, source));
    let whole = writes.and_then(|writes| match damaged.witness.writes()? {
        acknowledged if acknowledged > writes => Err(damaged.witness.missing(acknowledged, writes)),
        _ => Ok(()),
    });
    salvaged.lost.extend(whole.err());
    let damaged = &damaged.connection;
    let transaction = new.write(SALVAGE)?;
    let mut runs = BTreeSet::new();
    let library = copy_commits(damaged, &transaction, &mut runs, &mut salvaged)?;
    salvaged.revision = library.revision();
    journal::find_runs(damaged, &mut runs, &mut salvaged);
    for run in &runs {
        journal::copy_run(damaged, &transaction, &RunId::new(run), &mut salvaged)?;
    }
    count_entries(SALVAGE, &transaction)?;
    copy_files(damaged, &transaction, &library, &mut salvaged)?;
    transaction
        .commit()
        .map_err(|source| failed(SALVAGE, source))?;
    Ok(salvaged)
}

/// Copies the commits up to the first that is missing, damaged or cannot be applied.
fn copy_commits(
    damaged: &Connection,
    new: &Transaction<'_>,
    runs: &mut BTreeSet<String>,
    salvaged: &mut Salvaged,
) -> Result<SkillLibrary> {
    let mut library = SkillLibrary::new();
    let last = [
        "SELECT max(revision) FROM commits",
        "SELECT revision FROM head",
    ];
    let last = greatest(damaged, last, []);
    loop {
        let due = library.revision().next();
        let read = read_one_commit(damaged, due).and_then(|committed| {
            let Some(committed) = committed else {
                return Ok(None);
            };
            library.apply(&committed).map_err(cannot_be_applied)?;
            Ok(Some(committed))
        });
        let fault = match read {
            Ok(Some(committed)) => {
                runs.extend(
                    committed
                        .cause
                        .run
                        .iter()
                        .map(|run| run.as_str().to_owned()),
                );
                insert_commit(SALVAGE, new, &committed, &to_json(SALVAGE, &committed)?)?;
                continue;
            }
            Ok(None) => missing(SALVAGE, due),
            Err(error) => error,
        };
        match last {
            Some(last) if last.unsigned_abs() < due.0 => {}
            Some(last) => salvaged.lost.push(fault.with("last_revision", last)),
            None => salvaged.lost.push(fault.with("last_revision", "unknown")),
        }
        return Ok(library);
    }
}

fn read_one_commit(damaged: &Connection, revision: Revision) -> Result<Option<Committed>> {
    let query = "SELECT revision, body, hash, key FROM commits WHERE revision = ?1";
    damaged
        .prepare_cached(query)
        .and_then(|mut statement| {
            let found = |row: &rusqlite::Row<'_>| Ok(read_commit(SALVAGE, row));
            statement.query_row([revision.0 as i64], found).optional()
        })
        .map_err(|source| failed(SALVAGE, source).with("revision", revision))?
        .transpose()
}

/// Copies every readable file, found by row or by hash.
fn copy_files(
    damaged: &Connection,
    new: &Transaction<'_>,
    library: &SkillLibrary,
    salvaged: &mut Salvaged,
) -> Result<()> {
    let mut kept = BTreeSet::new();
    let mut keep = |sha256: &str, bytes: &[u8]| -> Result<()> {
        // Larger bytes cannot be a stored file.
        let Ok(file) = FileRef::of(bytes) else {
            return Ok(());
        };
        if file.sha256 == sha256 && !kept.contains(sha256) {
            insert_file(SALVAGE, new, &file, bytes)?;
            kept.insert(file.sha256);
        }
        Ok(())
    };
    let last = damaged.query_row("SELECT max(rowid) FROM files", [], |row| {
        row.get::<_, Option<i64>>(0)
    });
    // A damaged row number can have any value. A row takes more than 64 bytes, so the database's size bounds the number
    // of rows.
    let most = damaged.query_row(
        "SELECT page_count * page_size / 64 FROM pragma_page_count, pragma_page_size",
        [],
        |row| row.get::<_, i64>(0),
    );
    let most = most.unwrap_or(0);
    for row in 1..=last.ok().flatten().unwrap_or(0).min(most) {
        let query = "SELECT sha256, bytes FROM files NOT INDEXED WHERE rowid = ?1";
        let file = damaged.prepare_cached(query).and_then(|mut statement| {
            statement.query_row([row], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?))
            })
        });
        if let Ok((sha256, bytes)) = file {
            keep(&sha256, &bytes)?;
        }
    }
    for file in all_files(library) {
        let query = "SELECT bytes FROM files WHERE sha256 = ?1";
        let bytes: rusqlite::Result<Vec<u8>> = damaged
            .prepare_cached(query)
            .and_then(|mut statement| statement.query_row([&file.sha256], |row| row.get(0)));
        if let Ok(bytes) = bytes {
            keep(&file.sha256, &bytes)?;
        }
    }
    salvaged.files = kept.len() as u64;
    let lost = all_files(library).into_iter();
    let lost = lost.filter(|file| !kept.contains(&file.sha256));
    salvaged
        .lost
        .extend(lost.map(|file| lost_file(SALVAGE, file)));
    Ok(())
}
