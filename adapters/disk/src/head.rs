//! The library's head: how many writes it has, kept in the database and in a small file beside it.
//!
//! SQLite takes a damaged end of its write-ahead log for one that was never committed, and an empty database for a new
//! one: without a witness, what was acknowledged would be gone in silence. The file is written after a write is on the
//! disk and before it is acknowledged, without a sync of its own: after a loss of power it may be old, never ahead.

use std::{
    fs::OpenOptions,
    io,
    os::unix::fs::{FileExt, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Revision, sha256_hex};
use rusqlite::Connection;

use crate::convert::DAMAGED;

/// The bytes of a witness: twenty digits, a blank, their SHA-256, a line's end. What follows is not read.
const LINE: usize = 86;

/// The row that each write moves on.
pub(crate) const TABLE: &str = "
    CREATE TABLE head (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        writes INTEGER NOT NULL,
        revision INTEGER NOT NULL
    ) STRICT;
    INSERT INTO head SELECT 1, 0, coalesce(max(revision), 0) FROM commits;
";

/// Counts a write, the library's last revision with it; gives the number of writes.
pub(crate) fn advance(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "UPDATE head SET writes = writes + 1, revision = (SELECT coalesce(max(revision), 0) FROM commits) \
         RETURNING writes",
    )?;
    let writes: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(writes.unsigned_abs())
}

/// The last revision, as it was counted.
pub(crate) fn revision(connection: &Connection) -> rusqlite::Result<Revision> {
    let mut statement = connection.prepare_cached("SELECT revision FROM head")?;
    let revision: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(Revision(revision.unsigned_abs()))
}

/// The number of writes, as they were counted.
pub(crate) fn writes(connection: &Connection) -> rusqlite::Result<u64> {
    let writes: i64 = connection.query_row("SELECT writes FROM head", [], |row| row.get(0))?;
    Ok(writes.unsigned_abs())
}

/// The file beside the database.
#[derive(Debug)]
pub(crate) struct Witness {
    path: PathBuf,
}

impl Witness {
    /// The witness of a database.
    pub(crate) fn of(database: &Path) -> Self {
        Self {
            path: database.with_extension("head"),
        }
    }

    /// How many writes were acknowledged at least; 0 where there is no file, or none that can be believed.
    pub(crate) fn writes(&self) -> u64 {
        let bytes = std::fs::read(&self.path).unwrap_or_default();
        let line = bytes
            .get(..LINE)
            .and_then(|line| std::str::from_utf8(line).ok());
        let line = line.unwrap_or_default();
        let number = line
            .split(' ')
            .next()
            .and_then(|digits| digits.parse().ok());
        number
            .filter(|number| line_of(*number) == line)
            .unwrap_or(0)
    }

    /// Says that so many writes are on the disk. Where it cannot be said, they are none the less.
    pub(crate) fn note(&self, writes: u64) {
        if let Err(error) = self.write(writes) {
            tracing::warn!(%error, "the library's head could not be written");
        }
    }

    fn write(&self, writes: u64) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            // A link would lead the write elsewhere.
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
            .open(&self.path)?;
        // Always as long, and within one sector: it is there as a whole or not.
        file.write_all_at(line_of(writes).as_bytes(), 0)
    }

    /// What to say of a library that has fewer writes than were acknowledged.
    pub(crate) fn missing(&self, found: u64) -> Error {
        const OPEN: &str = "DiskStore::open";
        Error::new(ErrorKind::Corrupt, OPEN, "acknowledged writes are missing")
            .with("acknowledged", self.writes())
            .with("found", found)
            .with("witness", self.path.display())
            .hint(format!(
                "{DAMAGED}; to go on with what is left, remove the witness"
            ))
    }
}

fn line_of(writes: u64) -> String {
    let digits = format!("{writes:020}");
    let hash = sha256_hex(&digits);
    format!("{digits} {hash}\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// What a witness with these bytes says.
    fn check(bytes: &[u8], expect: u64) {
        let folder = tempfile::tempdir().unwrap();
        let witness = Witness::of(&folder.path().join("library.db"));
        std::fs::write(folder.path().join("library.head"), bytes).unwrap();
        assert_eq!(witness.writes(), expect, "{bytes:?}");
        // Whatever it was, the next one is believed.
        witness.note(9);
        assert_eq!(witness.writes(), 9);
    }

    #[test]
    fn only_a_whole_witness_is_believed() {
        let line = line_of(7);
        assert_eq!(line.len(), LINE);
        check(line.as_bytes(), 7);
        check(&[line.as_bytes(), b"\xff more"].concat(), 7);
        check(&line.as_bytes()[..LINE - 1], 0);
        check(line.replacen('7', "8", 1).as_bytes(), 0);
        check(b"", 0);
        check(b"\xff\xfe", 0);
    }
}
