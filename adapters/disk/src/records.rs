//! Reading and writing commits, skill files and journal entries.

use std::borrow::Cow;

use journeyman::{
    Error, ErrorKind, Result, RunId,
    contract::JournalEntry,
    domain::{Commit, Committed, FileRef, Revision, sha256_hex},
};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde_json::Value;

use crate::{
    convert::{DAMAGED, failed, from_json, to_json},
    database::Database,
    fault, head,
    statements::{has_file, insert_commit, insert_entry, insert_file},
};

/// Maximum nesting depth of an entry's event. serde_json reads at most 128 levels, those around the event included.
const DEEPEST: usize = 100;

impl Database {
    /// The commits after a revision, in order.
    pub(crate) fn since(&mut self, revision: Revision) -> Result<Vec<Committed>> {
        const SINCE: &str = "SkillStore::since";
        let failed = |source| failed(SINCE, source);
        // One transaction, so that both queries see the same state.
        let view = self.connection.transaction().map_err(failed)?;
        let last = last_revision(SINCE, &view)?;
        if revision > last {
            return Err(
                Error::invalid(SINCE, "the library does not have this revision")
                    .with("revision", revision)
                    .with("last", last)
                    .hint("the revision is of another library or of a later state; load the library again"),
            );
        }
        let mut rows = view
            .prepare_cached(
                "SELECT revision, body, hash, key FROM commits WHERE revision > ?1 ORDER BY revision",
            )
            .map_err(failed)?;
        let mut rows = rows.query([revision.0 as i64]).map_err(failed)?;
        let mut committed = Vec::new();
        let mut next = revision.next();
        while let Some(row) = rows.next().map_err(failed)? {
            let commit = read_commit(SINCE, row)?;
            if commit.revision != next {
                return Err(missing(SINCE, next));
            }
            next = next.next();
            committed.push(commit);
        }
        Ok(committed)
    }

    /// Commits; returns the earlier commit where the key was committed before.
    pub(crate) fn commit(&mut self, commit: &Commit) -> Result<Committed> {
        const COMMIT: &str = "SkillStore::commit";
        let failed = |source| failed(COMMIT, source);
        let commit = self.redacted(COMMIT, commit, Commit::ids)?;
        let commit = commit.as_ref();
        let transaction = self.write(COMMIT)?;
        let known = transaction
            .prepare_cached("SELECT revision, body, hash, key FROM commits WHERE key = ?1")
            .and_then(|mut statement| {
                statement
                    .query_row([commit.key.as_str()], |row| Ok(read_commit(COMMIT, row)))
                    .optional()
            })
            .map_err(failed)?;
        if let Some(known) = known {
            return known;
        }
        commit.check_files(|file| has_file(COMMIT, &transaction, file))?;
        let committed = commit.made_on(last_revision(COMMIT, &transaction)?)?;
        let body = to_json(COMMIT, &committed)?;
        fault::point("commit: before the write");
        insert_commit(COMMIT, &transaction, &committed, &body)?;
        fault::point("commit: written");
        transaction.commit().map_err(failed)?;
        fault::point("commit: kept");
        Ok(committed)
    }

    /// The last revision.
    pub(crate) fn last(&mut self) -> Result<Revision> {
        const SINCE: &str = "SkillStore::since";
        // One transaction, so that the rows and the head are of the same state.
        let view = self.connection.transaction();
        let view = view.map_err(|source| failed(SINCE, source))?;
        last_revision(SINCE, &view)
    }

    /// Stores a file's bytes.
    pub(crate) fn put_file(&mut self, bytes: &[u8]) -> Result<FileRef> {
        const PUT: &str = "SkillFiles::put";
        let file = FileRef::of(bytes)?;
        self.check_secrets(PUT, bytes)?;
        let transaction = self.write(PUT)?;
        insert_file(PUT, &transaction, &file, bytes)?;
        transaction.commit().map_err(|source| failed(PUT, source))?;
        Ok(file)
    }

    /// A file's bytes.
    pub(crate) fn file(&self, sha256: &str) -> Result<Option<Vec<u8>>> {
        const GET: &str = "SkillFiles::get";
        let bytes: Option<Vec<u8>> = self
            .connection
            .prepare_cached("SELECT bytes FROM files WHERE sha256 = ?1")
            .and_then(|mut statement| statement.query_row([sha256], |row| row.get(0)).optional())
            .map_err(|source| failed(GET, source))?;
        if let Some(bytes) = &bytes
            && sha256_hex(bytes) != sha256
        {
            let message = "a skill file differs from its hash";
            return Err(Error::new(ErrorKind::Corrupt, GET, message)
                .with("sha256", sha256)
                .hint(DAMAGED));
        }
        Ok(bytes)
    }

    /// Appends entries in order; stops at the first that is refused, and returns its error.
    pub(crate) fn append(&mut self, entries: &[JournalEntry]) -> Result<()> {
        const APPEND: &str = "Journal::append";
        if entries.is_empty() {
            return Ok(());
        }
        let failed = |source| failed(APPEND, source);
        let entries: Vec<Cow<'_, JournalEntry>> = entries
            .iter()
            .map(|entry| self.redacted_entry(APPEND, entry))
            .collect::<Result<_>>()?;
        let transaction = self.write(APPEND)?;
        fault::point("append: before the write");
        let refused = entries
            .iter()
            .try_for_each(|entry| append_one(&transaction, entry));
        // Entries before one that breaks a rule are kept; after a failure of the disk none is.
        let broken =
            |error: &Error| !matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict);
        if let Err(error) = &refused
            && broken(error)
        {
            return refused;
        }
        fault::point("append: written");
        transaction.commit().map_err(failed)?;
        fault::point("append: kept");
        refused
    }

    /// The runs that have entries, by id.
    pub(crate) fn runs(&mut self) -> Result<Vec<RunId>> {
        let failed = |source| failed("Journal::runs", source);
        let mut statement = self
            .connection
            .prepare_cached("SELECT run FROM runs WHERE entries > 0 ORDER BY run")
            .map_err(failed)?;
        let runs = statement.query_map([], |row| row.get::<_, String>(0));
        let runs = runs.map_err(failed)?.map(|run| run.map(RunId::new));
        runs.collect::<Result<_, _>>().map_err(failed)
    }

    /// A run's entries, in order.
    pub(crate) fn read(&mut self, run: &RunId) -> Result<Vec<JournalEntry>> {
        const READ: &str = "Journal::read";
        let failed = |source| failed(READ, source);
        // One transaction, so that both queries see the same state.
        let view = self.connection.transaction().map_err(failed)?;
        let mut statement = view
            .prepare_cached(
                "SELECT sequence, body, hash FROM journal WHERE run = ?1 ORDER BY sequence",
            )
            .map_err(failed)?;
        let mut rows = statement.query([run.as_str()]).map_err(failed)?;
        let mut entries: Vec<JournalEntry> = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let entry = read_entry(READ, run, row)?;
            if entry.sequence != entries.len() as u64 {
                return Err(entry_missing(READ, run, entries.len() as u64));
            }
            entries.push(entry);
        }
        let counted: Option<i64> = view
            .prepare_cached("SELECT entries FROM runs WHERE run = ?1")
            .and_then(|mut statement| {
                let count = statement.query_row([run.as_str()], |row| row.get(0));
                count.optional()
            })
            .map_err(failed)?;
        // SQLite ends a search at a damaged row whose key seems to belong to another run.
        if entries.len() as u64 != counted.unwrap_or(0).unsigned_abs() {
            return Err(entry_missing(READ, run, entries.len() as u64));
        }
        Ok(entries)
    }
}

/// The last revision; `Corrupt` where the last commits are missing.
pub(crate) fn last_revision(operation: &'static str, connection: &Connection) -> Result<Revision> {
    let failed = |source| failed(operation, source);
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(revision) FROM commits")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(failed)?;
    let last = Revision(last.unwrap_or(0).unsigned_abs());
    match head::revision(connection).map_err(failed)? {
        counted if counted == last => Ok(last),
        _ => Err(missing(operation, last.next())),
    }
}

/// Reads a commit from its revision, body, hash and key.
pub(crate) fn read_commit(operation: &'static str, row: &rusqlite::Row<'_>) -> Result<Committed> {
    let failed = |source| failed(operation, source);
    let revision: i64 = row.get(0).map_err(failed)?;
    let (body, hash): (String, String) = row
        .get(1)
        .and_then(|body| Ok((body, row.get(2)?)))
        .map_err(failed)?;
    let committed: Committed =
        from_json(operation, &body, &hash).map_err(|error| error.with("revision", revision))?;
    let key: String = row.get(3).map_err(failed)?;
    if committed.revision.0 != revision.unsigned_abs() || committed.key.as_str() != key {
        return Err(missing(operation, Revision(revision.unsigned_abs())));
    }
    Ok(committed)
}

pub(crate) fn missing(operation: &'static str, revision: Revision) -> Error {
    Error::new(ErrorKind::Corrupt, operation, "a revision is missing")
        .with("revision", revision)
        .hint(DAMAGED)
}

pub(crate) fn entry_missing(operation: &'static str, run: &RunId, sequence: u64) -> Error {
    Error::new(ErrorKind::Corrupt, operation, "a journal entry is missing")
        .with("run", run)
        .with("sequence", sequence)
        .hint(DAMAGED)
}

/// Reads an entry of a run from its sequence, body and hash.
pub(crate) fn read_entry(
    operation: &'static str,
    run: &RunId,
    row: &rusqlite::Row<'_>,
) -> Result<JournalEntry> {
    let (sequence, body, hash): (i64, String, String) = row
        .get(0)
        .and_then(|sequence| Ok((sequence, row.get(1)?, row.get(2)?)))
        .map_err(|source| failed(operation, source))?;
    let entry: JournalEntry = from_json(operation, &body, &hash)
        .map_err(|error| error.with("run", run).with("sequence", sequence))?;
    if entry.run != *run || entry.sequence != sequence.unsigned_abs() {
        return Err(Error::new(
            ErrorKind::Corrupt,
            operation,
            "a journal entry differs from its key",
        )
        .with("run", run)
        .with("sequence", sequence));
    }
    Ok(entry)
}

/// Whether a value is nested deeper than `limit`.
fn is_deeper(value: &Value, limit: usize) -> bool {
    let deeper = |value| is_deeper(value, limit - 1);
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(deeper),
        Value::Object(fields) => limit == 0 || fields.values().any(deeper),
        _ => false,
    }
}

fn append_one(transaction: &Transaction<'_>, entry: &JournalEntry) -> Result<()> {
    const APPEND: &str = "Journal::append";
    let failed = |source| failed(APPEND, source);
    let refused = |kind, message| {
        Error::new(kind, APPEND, message)
            .with("run", &entry.run)
            .with("sequence", entry.sequence)
    };
    if entry.schema != JournalEntry::SCHEMA {
        let message = "the entry is of a schema that this version does not write";
        return Err(refused(ErrorKind::Invalid, message).with("schema", entry.schema));
    }
    if is_deeper(&entry.event, DEEPEST) {
        let message = "the event is nested too deep to be read back";
        return Err(refused(ErrorKind::Invalid, message)
            .with("limit", DEEPEST)
            .hint("write the nested part as a string"));
    }
    let (due, counted): (i64, i64) = transaction
        .prepare_cached(
            "SELECT coalesce(max(sequence) + 1, 0), coalesce((SELECT entries FROM runs WHERE run = ?1), 0) \
             FROM journal WHERE run = ?1",
        )
        .and_then(|mut statement| {
            statement.query_row([entry.run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .map_err(failed)?;
    if due != counted {
        return Err(entry_missing(APPEND, &entry.run, due.unsigned_abs()));
    }
    let due = due.unsigned_abs();
    if entry.sequence > due {
        return Err(
            refused(ErrorKind::Invalid, "the entry would leave a gap").with("expected", due)
        );
    }
    if entry.sequence < due {
        let known = transaction
            .prepare_cached(
                "SELECT sequence, body, hash FROM journal WHERE run = ?1 AND sequence = ?2",
            )
            .and_then(|mut statement| {
                let place = params![entry.run.as_str(), entry.sequence as i64];
                statement.query_row(place, |row| Ok(read_entry(APPEND, &entry.run, row)))
            })
            .map_err(failed)??;
        return if known == *entry {
            Ok(())
        } else {
            let message = "another entry has this sequence number";
            Err(refused(ErrorKind::Conflict, message))
        };
    }
    insert_entry(APPEND, transaction, entry, &to_json(APPEND, entry)?)?;
    transaction
        .prepare_cached(
            "INSERT INTO runs VALUES (?1, 1) ON CONFLICT (run) DO UPDATE SET entries = entries + 1",
        )
        .and_then(|mut statement| statement.execute([entry.run.as_str()]))
        .map_err(failed)?;
    Ok(())
}
