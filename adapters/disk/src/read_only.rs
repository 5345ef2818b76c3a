//! Opening a library's database for reading only.

use std::{path::Path, time::Duration};

use journeyman::{Error, Result};
use rusqlite::{Connection, OpenFlags};

use crate::{
    convert::failed,
    database::{Database, refuse_emptied},
    form::FORM,
};

/// Opens a library's database for reading. `alone` says that no other process has it open.
pub(crate) fn open_to_read(operation: &'static str, path: &Path, alone: bool) -> Result<Database> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(*byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    if alone {
        address.push_str("?immutable=1");
    }
    let named = |error: Error| error.with("path", path.display());
    refuse_emptied(operation, path)?;
    let connection = Connection::open_with_flags(address, flags)
        .map_err(|source| named(failed(operation, source)))?;
    Database::of(connection, path, Duration::from_secs(5)).map_err(named)
}

/// Refuses a database that is not a library of the present schema version.
pub(crate) fn refuse_others(
    operation: &'static str,
    database: &Database,
    path: &Path,
) -> Result<()> {
    let named = |error: Error| error.with("path", path.display());
    match database.form().map_err(named)? {
        FORM => Ok(()),
        0 => Err(named(match database.witness.writes()? {
            0 => Error::invalid(operation, "the database is not a skill library"),
            acknowledged => database.witness.missing(acknowledged, 0),
        })),
        form => Err(named(
            Error::unsupported(operation, "the library is of an older form")
                .with("form", form)
                .hint("open the library once for writing, which upgrades it and keeps a copy"),
        )),
    }
}
