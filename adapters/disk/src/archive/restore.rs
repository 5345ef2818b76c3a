//! One's own archive, back into an empty library.

use std::{collections::BTreeMap, io::BufRead};

use journeyman::{Error, Result, contract::JournalEntry, domain::FileRef, sha256_hex};
use rusqlite::{Transaction, params};

use super::{ArchiveLimits, Archived, Folded, Kind, corrupt, file_is_missing, lines, parsed};
use crate::{DiskStore, convert::failed, database::Database, records::has_file, worker::Owned};

const RESTORE: &str = "DiskStore::restore";

impl DiskStore {
    /// Takes an archive into this library, which must be empty: the same commits under the same revisions and keys, the
    /// same files and, where it holds them, the same entries of the journal. All of it is there afterwards or nothing.
    ///
    /// What a stranger gives comes in by [`read_offer`](crate::read_offer).
    ///
    /// # Errors
    /// `Invalid` where the library is not empty, and for what is no archive or is over a limit; `Unsupported` for an
    /// archive of another version; `Corrupt` for one that was cut or changed, with the line; `Unavailable` when it could
    /// not be read or kept.
    pub async fn restore(
        &self,
        input: impl BufRead + Send + 'static,
        limits: ArchiveLimits,
    ) -> Result<Archived> {
        let restore = move |owned: &mut Owned| owned.database.restore(input, &limits);
        self.worker.ask(RESTORE, restore).await
    }
}

impl Database {
    fn restore(&mut self, input: impl BufRead, limits: &ArchiveLimits) -> Result<Archived> {
        let transaction = self.write(RESTORE)?;
        let taken: bool = transaction
            .query_row(
                "SELECT EXISTS (SELECT 1 FROM commits) OR EXISTS (SELECT 1 FROM journal)",
                [],
                |row| row.get(0),
            )
            .map_err(|source| failed(RESTORE, source))?;
        if taken {
            return Err(Error::invalid(RESTORE, "the library is not empty")
                .hint("restore into a folder of its own, or take in what the archive offers"));
        }
        let mut folded = Folded::default();
        let mut due = BTreeMap::new();
        let archived = lines::read(RESTORE, input, limits, |kind, body| match kind {
            Kind::Commit => commit(&transaction, &mut folded, body),
            Kind::Entry => entry(&transaction, &mut due, body),
            Kind::File => file(&transaction, body),
        })?;
        for file in &folded.files {
            if !has_file(&transaction, file).map_err(|source| failed(RESTORE, source))? {
                return Err(file_is_missing(RESTORE, file));
            }
        }
        transaction
            .execute_batch("INSERT INTO runs SELECT run, count(*) FROM journal GROUP BY run")
            .map_err(|source| failed(RESTORE, source))?;
        transaction
            .commit()
            .map_err(|source| failed(RESTORE, source))?;
        Ok(archived)
    }
}

fn commit(transaction: &Transaction<'_>, folded: &mut Folded, body: &str) -> Result<()> {
    let committed = folded.commit(RESTORE, body)?;
    let revision = committed.revision.0 as i64;
    let key = committed.key.as_str();
    let kept = transaction
        .prepare_cached(
            "INSERT INTO commits (revision, key, body, hash) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        )
        .and_then(|mut statement| statement.execute(params![revision, key, body, sha256_hex(body)]))
        .map_err(|source| failed(RESTORE, source))?;
    match kept {
        1 => Ok(()),
        _ => Err(corrupt(RESTORE, "two commits have the same key")),
    }
}

fn entry(transaction: &Transaction<'_>, due: &mut BTreeMap<String, u64>, body: &str) -> Result<()> {
    let entry: JournalEntry = parsed(RESTORE, body)?;
    let due = due.entry(entry.run.as_str().to_owned()).or_default();
    if entry.sequence != *due || entry.schema != JournalEntry::SCHEMA {
        let message = "an entry of the journal is missing, doubled or of another schema";
        return Err(corrupt(RESTORE, message));
    }
    *due += 1;
    transaction
        .prepare_cached("INSERT INTO journal (run, sequence, body, hash) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut statement| {
            let (run, sequence) = (entry.run.as_str(), entry.sequence as i64);
            statement.execute(params![run, sequence, body, sha256_hex(body)])
        })
        .map_err(|source| failed(RESTORE, source))?;
    Ok(())
}

fn file(transaction: &Transaction<'_>, body: &str) -> Result<()> {
    let bytes = lines::decoded(RESTORE, body)?;
    let file = FileRef::of(&bytes)?;
    transaction
        .prepare_cached("INSERT INTO files (sha256, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
        .and_then(|mut statement| statement.execute(params![file.sha256, bytes]))
        .map_err(|source| failed(RESTORE, source))?;
    Ok(())
}
