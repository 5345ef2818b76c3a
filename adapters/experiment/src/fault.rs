//! The errors of this crate: their operation, and files that cannot be read or written.

use std::{io, path::Path};

use journeyman::{Error, ErrorKind};

/// The operation that errors of this crate name.
pub(crate) const EXPERIMENT: &str = "experiment";

pub(crate) fn internal(message: &'static str) -> Error {
    Error::new(ErrorKind::Internal, EXPERIMENT, message)
}

pub(crate) fn unreadable(path: &Path, source: io::Error) -> Error {
    let (kind, message) = match source.kind() {
        io::ErrorKind::NotFound => (ErrorKind::NotFound, "there is nothing at this path"),
        _ => (ErrorKind::Unavailable, "the path cannot be read"),
    };
    Error::new(kind, EXPERIMENT, message)
        .with("path", path.display())
        .hint("see that it is there and that this user may read it")
        .source_from(source)
}

pub(crate) fn unwritable(path: &Path, source: io::Error) -> Error {
    let message = "the path cannot be written";
    Error::new(ErrorKind::Unavailable, EXPERIMENT, message)
        .with("path", path.display())
        .hint("see that the folder is there, has room and may be written by this user")
        .source_from(source)
}
