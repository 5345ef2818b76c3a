//! The library's head: the number of its writes, stored in the database and in a witness file, `library.head`, beside
//! it.
//!
//! SQLite treats a damaged end of its write-ahead log as never committed, and an empty database as new. Without the
//! witness file, acknowledged writes would be lost silently. The file is written after a write is on the disk and
//! before it is acknowledged, without a sync of its own: after a power loss its number may be too low, never too high.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileExt, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use journeyman::{
    Error, ErrorKind, Result,
    domain::{Revision, sha256_hex},
};
use rusqlite::Connection;

use crate::convert::{DAMAGED, file_failed};

/// Length of a witness file in bytes: twenty digits, a space, their SHA-256, a newline. Bytes after these are not read.
const LINE: usize = 86;

/// Number of reads after which an invalid witness counts as damaged.
const READS: u32 = 10;

/// A number of writes that no library reaches. It marks a library whose files are being replaced by a salvage.
pub(crate) const SALVAGING: u64 = u64::MAX;

const OPEN: &str = "DiskStore::open";

/// The table of one row that each write updates.
pub(crate) const TABLE: &str = "
    CREATE TABLE head (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        writes INTEGER NOT NULL,
        revision INTEGER NOT NULL
    ) STRICT;
    INSERT INTO head SELECT 1, 0, coalesce(max(revision), 0) FROM commits;
";

/// Counts a write and stores the last revision; returns the number of writes.
pub(crate) fn advance(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "UPDATE head SET writes = writes + 1, revision = (SELECT coalesce(max(revision), 0) FROM commits) \
         RETURNING writes",
    )?;
    let writes: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(writes.unsigned_abs())
}

/// The last revision, as the head has it.
pub(crate) fn revision(connection: &Connection) -> rusqlite::Result<Revision> {
    let mut statement = connection.prepare_cached("SELECT revision FROM head")?;
    let revision: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(Revision(revision.unsigned_abs()))
}

/// The number of writes, as the head has it.
pub(crate) fn writes(connection: &Connection) -> rusqlite::Result<u64> {
    let writes: i64 = connection.query_row("SELECT writes FROM head", [], |row| row.get(0))?;
    Ok(writes.unsigned_abs())
}

/// The witness file beside the database.
#[derive(Debug)]
pub(crate) struct Witness {
    path: PathBuf,
}

impl Witness {
    /// The witness file of a database.
    pub(crate) fn of(database: &Path) -> Self {
        Self {
            path: database.with_extension("head"),
        }
    }

    /// The first bytes of the file; `None` where it does not exist, or a crash came before its first write.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read.
    pub(crate) fn line(&self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        // A link could lead to another file, and reading a pipe would not end.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .custom_flags(flags.bits() as i32)
            .open(&self.path);
        match file.and_then(|file| file.take(LINE as u64).read_to_end(&mut line)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(file_failed(OPEN, &self.path, error))
            }
            _ => Ok(Some(line).filter(|line| line.iter().any(|byte| *byte != 0))),
        }
    }

    /// The number of acknowledged writes; 0 where the file does not exist or was never written.
    ///
    /// # Errors
    /// `Corrupt` for a damaged witness; `Unavailable` when it cannot be read.
    pub(crate) fn writes(&self) -> Result<u64> {
        let mut looks = 0;
        loop {
            let Some(line) = self.line()? else {
                return Ok(0);
            };
            let line = std::str::from_utf8(&line).unwrap_or_default();
            let number = line.split(' ').next();
            let number = number.and_then(|digits| digits.parse().ok());
            if let Some(number) = number.filter(|number| line_of(*number) == line) {
                return Ok(number);
            }
            // Another process may be writing it at this moment.
            looks += 1;
            if looks == READS {
                let message = "the file that counts the acknowledged writes is damaged";
                return Err(Error::new(ErrorKind::Corrupt, OPEN, message)
                    .with("witness", self.path.display())
                    .hint(format!(
                        "{DAMAGED}; to continue with the present state, remove the witness file"
                    )));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Marks the library as being replaced: it is refused until another number is noted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.write(SALVAGING)?.sync_all()
    }

    /// Notes the number of writes that are on the disk. A failure is logged only: the writes are kept all the same.
    pub(crate) fn note(&self, writes: u64) {
        if let Err(error) = self.write(writes) {
            tracing::warn!(%error, "the library's head could not be written");
        }
    }

    fn write(&self, writes: u64) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            // A link could lead the write to another file.
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
            .open(&self.path)?;
        // The length is fixed and within one sector, so the line is written as a whole or not at all.
        file.write_all_at(line_of(writes).as_bytes(), 0)?;
        Ok(file)
    }

    /// The error for a library that has fewer writes than were acknowledged.
    pub(crate) fn missing(&self, acknowledged: u64, found: u64) -> Error {
        let corrupt = |message: &str| {
            Error::new(ErrorKind::Corrupt, OPEN, message).with("witness", self.path.display())
        };
        if acknowledged == SALVAGING {
            return corrupt("a repair of the library was interrupted, and the library is incomplete")
                .hint(
                    "replace the library's folder with the copy that the repair made, or repair again, which \
                        may save less",
                );
        }
        corrupt("acknowledged writes are missing")
            .with("acknowledged", acknowledged)
            .with("found", found)
            .hint(format!(
                "{DAMAGED}; to continue without them, remove the witness file"
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

    /// Checks the number that a witness of these bytes holds; `None` for a damaged one.
    fn check(bytes: &[u8], expect: Option<u64>) {
        let folder = tempfile::tempdir().unwrap();
        let witness = Witness::of(&folder.path().join("library.db"));
        std::fs::write(folder.path().join("library.head"), bytes).unwrap();
        let said = witness.writes().map_err(|error| error.kind());
        assert_eq!(said, expect.ok_or(ErrorKind::Corrupt), "{bytes:?}");
        // Whatever the file held, the next number is accepted.
        witness.note(9);
        assert_eq!(witness.writes().unwrap(), 9);
    }

    #[test]
    fn a_whole_witness_is_believed_and_a_damaged_one_is_told() {
        let line = line_of(7);
        assert_eq!(line.len(), LINE);
        check(line.as_bytes(), Some(7));
        check(&[line.as_bytes(), b"\xff more"].concat(), Some(7));
        check(&line.as_bytes()[..LINE - 1], None);
        check(line.replacen('7', "8", 1).as_bytes(), None);
        check(b"\xff\xfe", None);
        // A crash came before the first write was on the disk.
        check(b"", Some(0));
        check(&[0; LINE], Some(0));
    }

    #[test]
    fn only_the_first_line_of_a_witness_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let witness = Witness::of(&folder.path().join("library.db"));
        witness.note(7);
        let file = OpenOptions::new().write(true).open(&witness.path).unwrap();
        file.set_len(1 << 42).unwrap();
        assert_eq!(witness.writes().unwrap(), 7);
    }

    #[test]
    fn a_witness_that_leads_elsewhere_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let witness = Witness::of(&folder.path().join("library.db"));
        std::os::unix::fs::symlink("/dev/zero", &witness.path).unwrap();
        assert_eq!(witness.writes().unwrap_err().kind(), ErrorKind::Unavailable);
    }
}
