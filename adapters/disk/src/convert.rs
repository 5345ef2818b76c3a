//! SQLite's errors and rows into ours.

use std::{io, path::Path};

use journeyman::{Error, ErrorKind, Result, sha256_hex};
use rusqlite::ErrorCode;
use serde::{Serialize, de::DeserializeOwned};

/// What to do about a damaged library.
pub(crate) const DAMAGED: &str = "copy the folder aside before anything else, then put a backup of `library.db` in its place and remove `library.head`, \
                                  `library.db-wal` and `library.db-shm`, or save what can be read with `journeyman library repair`";

/// What is to be said when SQLite fails.
pub(crate) fn failed(operation: &'static str, source: rusqlite::Error) -> Error {
    let code = source.sqlite_error_code();
    let (kind, temporary, message, hint) = match code {
        Some(ErrorCode::DiskFull) => (
            ErrorKind::Unavailable,
            true,
            "the disk is full",
            "make room and try again; what was acknowledged is safe, and reading goes on",
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
            "the disk failed",
            "see the system's log; the change was not acknowledged and can be made again",
        ),
        Some(ErrorCode::CannotOpen) => (
            ErrorKind::Unavailable,
            false,
            "the library's database cannot be opened",
            "see that the folder exists and that this user may write in it",
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
            "the library's database failed",
            "please report it",
        ),
    };
    let error = Error::new(kind, operation, message)
        .with("adapter", "disk")
        .hint(hint)
        .source_from(source);
    if temporary { error.temporary() } else { error }
}

/// Whether the database is damaged: a value is not what its column holds, such as text that is no UTF-8, or a row or table
/// that every library has is not there, or its first page names another format.
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

/// What is to be said when a file operation fails.
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
        "make room and try again"
    } else {
        "see that the folder exists and that this user may read and write it"
    })
    .source_from(source);
    if full { error.temporary() } else { error }
}

/// An empty library in the place of an empty file would hide what became of it.
pub(crate) fn is_empty(operation: &'static str) -> Error {
    let message = "the library's database is empty";
    Error::new(ErrorKind::Corrupt, operation, message)
        .hint("put a backup of it in its place, or remove it and make the library anew")
}

/// A value as the JSON that is kept.
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

/// A value out of the JSON that was kept, checked by its hash. serde's own message may repeat content (S11), so it is
/// left out.
pub(crate) fn from_json<T: DeserializeOwned>(
    operation: &'static str,
    json: &str,
    hash: &str,
) -> Result<T> {
    let damaged = |message: &str| Error::new(ErrorKind::Corrupt, operation, message).hint(DAMAGED);
    if sha256_hex(json) != hash {
        return Err(damaged("a record differs from what was written"));
    }
    serde_json::from_str(json)
        .map_err(|_| damaged("a record is not of the form that this version writes"))
}
