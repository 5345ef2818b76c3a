//! Conversion of SQLite errors, file errors and stored JSON.

use std::{io, path::Path};

use journeyman::{Error, ErrorKind, Result, domain::sha256_hex};
use rusqlite::ErrorCode;
use serde::{Serialize, de::DeserializeOwned};

/// The hint for a damaged library.
pub(crate) const DAMAGED: &str = "copy the folder to another place first; then restore a backup of `library.db` \
    and remove `library.head`, `library.db-wal` and `library.db-shm`, or save the readable part with \
    `journeyman library repair`";

/// The error for a failed SQLite call.
pub(crate) fn failed(operation: &'static str, source: rusqlite::Error) -> Error {
    let code = source.sqlite_error_code();
    let (kind, temporary, message, hint) = match code {
        Some(ErrorCode::DiskFull) => (
            ErrorKind::Unavailable,
            true,
            "the disk is full",
            "free disk space and try again; acknowledged writes are safe, and the library can still be read",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            ErrorKind::Unavailable,
            true,
            "other processes kept the library busy for too long",
            "try again, or raise `DiskOptions::patience`",
        ),
        Some(
            ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::AuthorizationForStatementDenied,
        ) => (
            ErrorKind::Unavailable,
            false,
            "the library cannot be written",
            "give this user write access to the library's folder and the files in it",
        ),
        Some(ErrorCode::SystemIoFailure) => (
            ErrorKind::Unavailable,
            true,
            "a disk read or write failed",
            "check the system log; the change was not acknowledged and can be repeated",
        ),
        Some(ErrorCode::CannotOpen) => (
            ErrorKind::Unavailable,
            false,
            "the library's database cannot be opened",
            "check that the folder exists and that this user can write in it",
        ),
        _ if is_damage(&source) => (
            ErrorKind::Corrupt,
            false,
            "the library's database is damaged",
            DAMAGED,
        ),
        _ => (
            ErrorKind::Internal,
            false,
            "the library's database returned an unexpected error",
            "please report it",
        ),
    };
    let error = Error::new(kind, operation, message)
        .with("adapter", "disk")
        .hint(hint)
        .source_from(source);
    if temporary { error.temporary() } else { error }
}

/// Whether the error shows a damaged database: a value of the wrong type (such as text that is not UTF-8), a missing
/// row or table that every library has, or a first page that names another format.
fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    match error {
        E::FromSqlConversionFailure(..)
        | E::InvalidColumnType(..)
        | E::Utf8Error(..)
        | E::IntegralValueOutOfRange(..)
        | E::QueryReturnedNoRows => true,
        E::SqliteFailure(_, Some(message)) | E::SqlInputError { msg: message, .. }
            if message.starts_with("no such table")
                || message.starts_with("unsupported file format") =>
        {
            true
        }
        _ => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
    }
}

/// The error for a failed file operation.
pub(crate) fn file_failed(operation: &'static str, path: &Path, source: io::Error) -> Error {
    let full = source.kind() == io::ErrorKind::StorageFull;
    let error = Error::new(
        ErrorKind::Unavailable,
        operation,
        if full {
            "the disk is full"
        } else {
            "a file operation failed"
        },
    )
    .with("path", path.display())
    .hint(if full {
        "free disk space and try again"
    } else {
        "check that the folder exists and that this user can read and write it"
    })
    .source_from(source);
    if full { error.temporary() } else { error }
}

/// The error for an empty database file. Creating a new library there would hide the loss.
pub(crate) fn is_empty(operation: &'static str) -> Error {
    let message = "the library's database is empty";
    Error::new(ErrorKind::Corrupt, operation, message)
        .hint("restore a backup of the file, or remove it to create a new library")
}

/// Writes a value as the JSON that is stored.
pub(crate) fn to_json<T: Serialize>(operation: &'static str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|source| {
        Error::new(
            ErrorKind::Internal,
            operation,
            "a value could not be written as JSON",
        )
        .source_from(source)
    })
}

/// Reads a value from stored JSON after checking its hash. serde's message may repeat content (S11), so it is left out.
pub(crate) fn from_json<T: DeserializeOwned>(
    operation: &'static str,
    json: &str,
    hash: &str,
) -> Result<T> {
    let damaged = |message: &str| Error::new(ErrorKind::Corrupt, operation, message).hint(DAMAGED);
    if sha256_hex(json) != hash {
        return Err(damaged("a record differs from what was written"));
    }
    serde_json::from_str(json).map_err(|_| damaged("a record cannot be parsed"))
}
