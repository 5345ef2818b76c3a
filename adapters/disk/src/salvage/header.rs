//! Repairing the header of a damaged copy, so that SQLite can open it.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    path::Path,
};

use journeyman::Result;

use super::files::{SALVAGE, beside, remove};
use crate::{
    convert::file_failed,
    database::Database,
    form::has_tables_of_this_form,
    head::Witness,
    read_only::{open_to_read, refuse_others},
};

/// Page size in bytes: SQLite's default, which no library changes.
const PAGE: u64 = 4096;

/// Header bytes that every library's database has, by offset.
const ALWAYS: [(u64, &[u8]); 5] = [
    // Format name, page size, WAL mode, no reserved bytes, and three constants.
    (0, b"SQLite format 3\0\x10\x00\x02\x02\x00\x40\x20\x20"),
    // The change counter. Where it differs from the number at offset 92, SQLite takes the number of pages from the file's
    // length.
    (24, b"\x00\x00\x00\x00"),
    (92, b"\x00\x00\x00\x01"),
    // Schema format 4, and UTF-8.
    (44, b"\x00\x00\x00\x04"),
    (56, b"\x00\x00\x00\x01"),
];

/// Opens a copy of a damaged library. Where its header cannot be read, it is copied once more to `mended`, with the
/// header bytes that every library has.
pub(super) fn open(path: &Path, mended: &Path) -> Result<Database> {
    let opened = tables(path);
    if let Ok((_, true)) = opened {
        return opened.map(|(database, _)| database);
    }
    mend(path, mended)?;
    if let Ok((mut database, true)) = tables(mended) {
        database.witness = Witness::of(path);
        return Ok(database);
    }
    let (database, _) = opened?;
    refuse_others(SALVAGE, &database, path)?;
    Ok(database)
}

/// Opens a database and returns whether its tables are a library's; damaged numbers in the header do not matter then.
fn tables(path: &Path) -> Result<(Database, bool)> {
    // No process has the copy open.
    let alone = !beside(path, "-wal").exists();
    let database = open_to_read(SALVAGE, path, alone)?;
    let known = has_tables_of_this_form(&database.connection).unwrap_or(false);
    Ok((database, known))
}

fn mend(path: &Path, mended: &Path) -> Result<()> {
    forget(mended)?;
    let copy = || {
        fs::copy(path, mended)?;
        let log = beside(path, "-wal");
        if log.exists() {
            fs::copy(log, beside(mended, "-wal"))?;
        }
        let file = OpenOptions::new().write(true).open(mended)?;
        if file.metadata()?.len() < PAGE {
            // The whole content may be in the log.
            file.set_len(PAGE)?;
        }
        let mut all = ALWAYS.into_iter();
        all.try_for_each(|(at, bytes)| file.write_all_at(bytes, at))
    };
    copy().map_err(|source| file_failed(SALVAGE, mended, source))
}

/// Removes the mended copy.
pub(super) fn forget(mended: &Path) -> Result<()> {
    for path in [mended, &beside(mended, "-wal"), &beside(mended, "-shm")] {
        remove(path)?;
    }
    Ok(())
}
