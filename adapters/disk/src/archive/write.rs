//! Writing a whole library into one archive.

use std::io::Write;

use journeyman::{Error, ErrorKind, Result, domain::sha256_hex};
use rusqlite::{Connection, Row};

use super::{Archived, FORM, FORMAT, Header, Kind, Replay, lines::Writer};
use crate::{
    DiskStore,
    convert::{DAMAGED, failed, to_json},
    database::Database,
    records::last_revision,
    statements::{each, has_file},
    worker::WorkerState,
};

const WRITE: &str = "DiskStore::write_archive";
const COMMITS: &str = "SELECT body, hash FROM commits ORDER BY revision";
const ENTRIES: &str = "SELECT body, hash FROM journal ORDER BY run, sequence";

impl DiskStore {
    /// Writes the present state of the library: its history, the files of its skills and, where `with_journal` is true,
    /// the journal of all runs. Returns the flushed output and the counts of what was written. Other processes may use
    /// the library meanwhile.
    ///
    /// The format is JSON Lines:
    ///
    /// | line | content |
    /// | --- | --- |
    /// | first | `{"format": "journeyman-library", "form": 1, "revision": R, "records": N}` |
    /// | N lines | `{"record": KIND, "sha256": HASH, "body": ...}`, the hash being that of the body's text |
    /// | last | `{"end": HASH}`, that of all bytes before the line |
    ///
    /// The kinds come in this order: `commit`, by revision; `entry` of the journal, by run and sequence; `file`, its
    /// bytes in base64; `missing`, a file that skills name and the library has lost. An archive that was cut off or has
    /// a flipped bit is refused as a whole. The hashes detect accidents; they do not prove who wrote an archive.
    ///
    /// # Errors
    /// `Corrupt` where a record of the library is damaged or missing, so that the archive could not be restored;
    /// `Unavailable` when the library could not be read or the archive written.
    ///
    /// ```
    /// use journeyman_disk::{ArchiveLimits, DiskStore, DiskOptions};
    ///
    /// # futures::executor::block_on(async {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// let store = DiskStore::open(folder.join("library"), &DiskOptions::default())?;
    /// let (archive, _) = store.write_archive(Vec::new(), true).await?;
    ///
    /// let copy = DiskStore::open(folder.join("copy"), &DiskOptions::default())?;
    /// copy.restore(std::io::Cursor::new(archive), ArchiveLimits::default()).await?;
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write_archive<W: Write + Send + 'static>(
        &self,
        out: W,
        with_journal: bool,
    ) -> Result<(W, Archived)> {
        let write = move |state: &mut WorkerState| state.database.write_archive(out, with_journal);
        self.worker.ask(WRITE, write).await
    }
}

impl Database {
    fn write_archive<W: Write>(&mut self, out: W, with_journal: bool) -> Result<(W, Archived)> {
        let failed = |source| failed(WRITE, source);
        // One transaction, so that all queries see the same state.
        let view = self.connection.transaction().map_err(failed)?;
        let folded = fold(&view, with_journal)?;
        let mut missing = Vec::new();
        for file in &folded.files {
            if !has_file(WRITE, &view, file)? {
                missing.push(file);
            }
        }
        let count = |query: &str| -> Result<u64> {
            let count: i64 = view
                .query_row(query, [], |row| row.get(0))
                .map_err(failed)?;
            Ok(count.unsigned_abs())
        };
        let archived = Archived {
            revision: folded.library.revision(),
            entries: folded.due.values().sum(),
            files: count("SELECT count(*) FROM files")?,
            missing: missing.len() as u64,
        };
        let counted = "SELECT coalesce(sum(entries), 0) FROM runs";
        if last_revision(WRITE, &view)? != archived.revision
            || (with_journal && count(counted)? != archived.entries)
        {
            let message = "a revision or a journal entry is missing";
            return Err(Error::new(ErrorKind::Corrupt, WRITE, message).hint(DAMAGED));
        }
        let header = Header {
            format: FORMAT.to_owned(),
            form: FORM,
            revision: archived.revision,
            records: archived.revision.0 + archived.entries + archived.files + archived.missing,
        };
        let mut writer = Writer::new(WRITE, out, &header)?;
        each(WRITE, &view, COMMITS, |row| {
            writer.record(Kind::Commit, &checked_body(row)?)
        })?;
        if with_journal {
            each(WRITE, &view, ENTRIES, |row| {
                writer.record(Kind::Entry, &checked_body(row)?)
            })?;
        }
        let files = "SELECT bytes, sha256 FROM files ORDER BY sha256";
        each(WRITE, &view, files, |row| {
            let bytes: Vec<u8> = row.get(0).map_err(failed)?;
            let sha256: String = row.get(1).map_err(failed)?;
            check_hash(&bytes, &sha256)?;
            writer.file(&bytes)
        })?;
        for file in missing {
            writer.record(Kind::Missing, &to_json(WRITE, file)?)?;
        }
        Ok((writer.end()?, archived))
    }
}

/// Applies the records as a restore will, so that an archive that cannot be restored is refused when it is written.
fn fold(view: &Connection, with_journal: bool) -> Result<Replay> {
    let mut folded = Replay::default();
    let damaged = |error: Error| error.hint(DAMAGED);
    each(WRITE, view, COMMITS, |row| {
        let committed = folded.commit(WRITE, &checked_body(row)?);
        committed.map(drop).map_err(damaged)
    })?;
    if with_journal {
        each(WRITE, view, ENTRIES, |row| {
            let entry = folded.entry(WRITE, &checked_body(row)?);
            entry.map(drop).map_err(damaged)
        })?;
    }
    Ok(folded)
}

/// A record's text, its hash checked.
fn checked_body(row: &Row<'_>) -> Result<String> {
    let failed = |source| failed(WRITE, source);
    let body: String = row.get(0).map_err(failed)?;
    let hash: String = row.get(1).map_err(failed)?;
    check_hash(body.as_bytes(), &hash)?;
    Ok(body)
}

fn check_hash(bytes: &[u8], sha256: &str) -> Result<()> {
    if sha256_hex(bytes) == sha256 {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Corrupt,
        WRITE,
        "a record differs from what was written",
    )
    .hint(DAMAGED))
}
