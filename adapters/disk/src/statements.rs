//! SQL statements that several modules share.

use journeyman::{
    Result,
    contract::JournalEntry,
    domain::{Committed, FileRef, sha256_hex},
};
use rusqlite::{Connection, Row, params};

use crate::convert::failed;

/// Calls `of` with each row of a query.
pub(crate) fn each(
    operation: &'static str,
    connection: &Connection,
    query: &str,
    mut of: impl FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let failed = |source| failed(operation, source);
    let mut statement = connection.prepare(query).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        of(row)?;
    }
    Ok(())
}

/// Stores a commit; `body` is its JSON.
pub(crate) fn insert_commit(
    operation: &'static str,
    connection: &Connection,
    committed: &Committed,
    body: &str,
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO commits (revision, key, body, hash) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut statement| {
            let (revision, key) = (committed.revision.0 as i64, committed.key.as_str());
            statement.execute(params![revision, key, body, sha256_hex(body)])
        })
        .map(drop)
        .map_err(|source| failed(operation, source))
}

/// Stores a journal entry without counting it; `body` is its JSON.
pub(crate) fn insert_entry(
    operation: &'static str,
    connection: &Connection,
    entry: &JournalEntry,
    body: &str,
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO journal (run, sequence, body, hash) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut statement| {
            let (run, sequence) = (entry.run.as_str(), entry.sequence as i64);
            statement.execute(params![run, sequence, body, sha256_hex(body)])
        })
        .map(drop)
        .map_err(|source| failed(operation, source))
}

/// Recounts the entries of all runs.
pub(crate) fn count_entries(operation: &'static str, connection: &Connection) -> Result<()> {
    connection
        .execute_batch(
            "DELETE FROM runs; INSERT INTO runs SELECT run, count(*) FROM journal GROUP BY run",
        )
        .map_err(|source| failed(operation, source))
}

/// Stores a file's bytes unless they are stored already.
pub(crate) fn insert_file(
    operation: &'static str,
    connection: &Connection,
    file: &FileRef,
    bytes: &[u8],
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO files (sha256, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
        .and_then(|mut statement| statement.execute(params![file.sha256, bytes]))
        .map(drop)
        .map_err(|source| failed(operation, source))
}

/// Whether a file is stored with the length of its reference.
pub(crate) fn has_file(
    operation: &'static str,
    connection: &Connection,
    file: &FileRef,
) -> Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM files WHERE sha256 = ?1 AND length(bytes) = ?2")
        .and_then(|mut statement| statement.exists(params![file.sha256, file.bytes as i64]))
        .map_err(|source| failed(operation, source))
}
