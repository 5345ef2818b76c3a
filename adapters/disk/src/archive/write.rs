//! A whole library into one file.

use std::io::Write;

use journeyman::{Error, ErrorKind, Result, Revision, sha256_hex};
use rusqlite::{Row, Transaction};

use super::{Archived, FORM, FORMAT, Header, Kind, lines::Writer};
use crate::{
    DiskStore,
    convert::{DAMAGED, failed},
    database::Database,
    records::last_revision,
    worker::Owned,
};

const WRITE: &str = "DiskStore::write_archive";

impl DiskStore {
    /// Writes the library as it is at this moment, with its history and the files of its skills and, if asked for, the
    /// journal of all runs. Gives the output back, flushed, and what was written. Other processes go on meanwhile.
    ///
    /// The form is JSON Lines:
    ///
    /// | line | what |
    /// | --- | --- |
    /// | first | `{"format": "journeyman-library", "form": 1, "revision": R, "records": N}` |
    /// | N lines | `{"record": KIND, "sha256": HASH, "body": ...}`, the hash being that of the body's text |
    /// | last | `{"end": HASH}`, that of all bytes before the line |
    ///
    /// The kinds come in this order: `commit`, in order of revision; `entry` of the journal, in order of run and sequence;
    /// `file`, its bytes in base64. So what was cut, or in which a bit was flipped, is never taken in, not in part either.
    /// The hashes find accidents; who made an archive they do not tell.
    ///
    /// # Errors
    /// `Corrupt` where a record of the library is damaged; `Unavailable` when it could not be read or written.
    ///
    /// ```
    /// use journeyman_disk::{ArchiveLimits, DiskStore, Options};
    ///
    /// # futures::executor::block_on(async {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// let store = DiskStore::open(folder.join("library"), &Options::default())?;
    /// let (archive, _) = store.write_archive(Vec::new(), true).await?;
    ///
    /// let copy = DiskStore::open(folder.join("copy"), &Options::default())?;
    /// copy.restore(std::io::Cursor::new(archive), ArchiveLimits::default()).await?;
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write_archive<W: Write + Send + 'static>(
        &self,
        out: W,
        with_journal: bool,
    ) -> Result<(W, Archived)> {
        let write = move |owned: &mut Owned| owned.database.write_archive(out, with_journal);
        self.worker.ask(WRITE, write).await
    }
}

impl Database {
    fn write_archive<W: Write>(&mut self, out: W, with_journal: bool) -> Result<(W, Archived)> {
        let failed = |source| failed(WRITE, source);
        // One view of the database for all questions.
        let view = self.connection.transaction().map_err(failed)?;
        let count = |table: &str| -> Result<u64> {
            let count: i64 = view
                .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                    row.get(0)
                })
                .map_err(failed)?;
            Ok(count.unsigned_abs())
        };
        let archived = Archived {
            revision: Revision(count("commits")?),
            entries: if with_journal { count("journal")? } else { 0 },
            files: count("files")?,
        };
        if last_revision(WRITE, &view)? != archived.revision {
            return Err(
                Error::new(ErrorKind::Corrupt, WRITE, "a revision is missing").hint(DAMAGED),
            );
        }
        let header = Header {
            format: FORMAT.to_owned(),
            form: FORM,
            revision: archived.revision,
            records: archived.revision.0 + archived.entries + archived.files,
        };
        let mut writer = Writer::new(WRITE, out, &header)?;
        each(
            &view,
            "SELECT body, hash FROM commits ORDER BY revision",
            |row| writer.record(Kind::Commit, &whole(row)?),
        )?;
        if with_journal {
            let query = "SELECT body, hash FROM journal ORDER BY run, sequence";
            each(&view, query, |row| writer.record(Kind::Entry, &whole(row)?))?;
        }
        each(
            &view,
            "SELECT bytes, sha256 FROM files ORDER BY sha256",
            |row| {
                let bytes: Vec<u8> = row.get(0).map_err(failed)?;
                let sha256: String = row.get(1).map_err(failed)?;
                sound(&bytes, &sha256)?;
                writer.file(&bytes)
            },
        )?;
        Ok((writer.end()?, archived))
    }
}

fn each(
    view: &Transaction<'_>,
    query: &str,
    mut write: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let failed = |source| failed(WRITE, source);
    let mut statement = view.prepare(query).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        write(row)?;
    }
    Ok(())
}

/// A record's text, as it was written.
fn whole(row: &Row<'_>) -> Result<String> {
    let failed = |source| failed(WRITE, source);
    let body: String = row.get(0).map_err(failed)?;
    let hash: String = row.get(1).map_err(failed)?;
    sound(body.as_bytes(), &hash)?;
    Ok(body)
}

fn sound(bytes: &[u8], sha256: &str) -> Result<()> {
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
