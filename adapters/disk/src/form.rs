//! The schema of the database: its tables, and the copy that is kept of an older one.

use std::{io, path::Path, time::SystemTime};

use journeyman::Result;
use rusqlite::Connection;

use crate::{
    convert::{failed, file_failed},
    head,
};

/// The schema version that this release writes. A new version changes the tables too, which tells it from a damaged
/// version number.
pub(crate) const FORM: i64 = 2;

/// SQLite's `application_id` of a library ("jour").
pub(crate) const APPLICATION: i64 = 0x6a6f_7572;

/// The tables of schema version 1.
pub(crate) const FIRST_TABLES: &str = "
    CREATE TABLE commits (
        revision INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        body TEXT NOT NULL,
        hash TEXT NOT NULL
    ) STRICT;
    CREATE TABLE journal (
        run TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        body TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (run, sequence)
    ) STRICT, WITHOUT ROWID;
";

/// The tables that schema version 2 added: the number of entries of each run, skill files, and the state of skill
/// folders.
pub(crate) const SECOND_TABLES: &str = "
    CREATE TABLE runs (
        run TEXT PRIMARY KEY,
        entries INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO runs SELECT run, count(*) FROM journal GROUP BY run;
    CREATE TABLE files (
        sha256 TEXT PRIMARY KEY,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE folders (
        id TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        place TEXT,
        written TEXT NOT NULL,
        stamp TEXT NOT NULL,
        going_place TEXT,
        going TEXT
    ) STRICT;
";

/// Whether the tables are exactly those of the present schema, whatever the version number says.
pub(crate) fn has_tables_of_this_form(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = |connection: &Connection| {
        let query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
        let mut statement = connection.prepare(query)?;
        let tables = statement.query_map([], |row| row.get::<_, String>(0))?;
        tables.collect::<rusqlite::Result<Vec<_>>>()
    };
    let made = Connection::open_in_memory()?;
    made.execute_batch(&[FIRST_TABLES, SECOND_TABLES, head::TABLE].concat())?;
    Ok(tables(&made)? == tables(connection)?)
}

/// Copies the database of an older schema to a file beside it.
pub(crate) fn keep_copy(connection: &Connection, path: &Path, form: i64) -> Result<()> {
    const OPEN: &str = "DiskStore::open";
    // First under a unique name: another process may be copying too, and may have upgraded the library meanwhile.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let own = format!(
        "{}-{}",
        std::process::id(),
        now.map_or(0, |now| now.as_nanos())
    );
    let partial = path.with_extension(format!("form-{form}.{own}"));
    let number = |connection: &Connection| {
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
    };
    let copied = connection
        .execute("VACUUM INTO ?1", [partial.to_string_lossy()])
        .and_then(|_| number(&Connection::open(&partial)?))
        .map_err(|source| failed(OPEN, source))?;
    let placed = match copied == form {
        true => under_free_name(&partial, path, form),
        false => Ok(()),
    };
    std::fs::remove_file(&partial).map_err(|source| file_failed(OPEN, &partial, source))?;
    placed.map_err(|source| file_failed(OPEN, path, source))
}

/// Links a copy to its final name, unless the same copy is there already from another process or before a crash. A copy
/// with other content keeps its name, and this one gets the next number.
fn under_free_name(copy: &Path, library: &Path, form: i64) -> io::Result<()> {
    let mut number = 1;
    loop {
        let name = match number {
            1 => format!("form-{form}.db"),
            _ => format!("form-{form}-{number}.db"),
        };
        let place = library.with_extension(name);
        match std::fs::hard_link(copy, &place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if is_same(copy, &place)? {
                    return Ok(());
                }
            }
            linked => return linked,
        }
        number += 1;
    }
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    if !other.is_file() || one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    Ok(std::fs::read(one)? == std::fs::read(other)?)
}
