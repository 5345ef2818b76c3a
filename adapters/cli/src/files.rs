//! Errors of paths that cannot be read or written, and files that are written whole or not at all.

use std::{
    fs::{self, File, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

pub(crate) fn unreadable(operation: &'static str, path: &Path, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::NotFound {
        return Error::new(
            ErrorKind::NotFound,
            operation,
            "there is nothing at this path",
        )
        .with("path", path.display())
        .hint("check the spelling: a path begins at the current folder, and one within a file at that file's folder")
        .source_from(source);
    }
    Error::new(ErrorKind::Unavailable, operation, "the path cannot be read")
        .with("path", path.display())
        .with("reason", source.kind())
        .hint("see that this user may read it")
        .source_from(source)
}

pub(crate) fn unwritable(operation: &'static str, path: &Path, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::AlreadyExists {
        return is_there(operation, path);
    }
    Error::new(
        ErrorKind::Unavailable,
        operation,
        "the path cannot be written",
    )
    .with("path", path.display())
    .with("reason", source.kind())
    .hint("see that the folder is there, has room and may be written by this user")
    .source_from(source)
}

pub(crate) fn is_there(operation: &'static str, path: &Path) -> Error {
    Error::invalid(operation, "something is there already")
        .with("path", path.display())
        .hint("name a place where nothing is yet")
}

/// A path's parent folder.
pub(crate) fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// A temporary file beside `path`, where nothing may be yet. It has the permissions of any new file.
pub(crate) fn begin(operation: &'static str, path: &Path) -> Result<NamedTempFile> {
    if path.symlink_metadata().is_ok() {
        return Err(is_there(operation, path));
    }
    tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(parent(path))
        .map_err(|source| unwritable(operation, path, source))
}

/// Syncs a temporary file and moves it to `path`, where nothing may be yet.
pub(crate) fn finish(operation: &'static str, file: NamedTempFile, path: &Path) -> Result<()> {
    let failed = |source| unwritable(operation, path, source);
    file.as_file().sync_all().map_err(failed)?;
    file.persist_noclobber(path)
        .map_err(|error| failed(error.error))?;
    sync_folder(&parent(path)).map_err(failed)
}

/// Writes a new file with these bytes.
pub(crate) fn whole(operation: &'static str, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = begin(operation, path)?;
    file.write_all(bytes)
        .map_err(|source| unwritable(operation, path, source))?;
    finish(operation, file, path)
}

/// The SHA-256 of a file's content, in lower-case hexadecimal.
pub(crate) fn digest(path: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    io::copy(&mut File::open(path)?, &mut digest)?;
    let digest = digest.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Syncs a folder's entries to the disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Syncs the file system of `path` to the disk: one wait for any number of files.
pub(crate) fn sync_all(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(path)?)?)
}

/// Whether a folder holds anything; true too where it cannot be read.
pub(crate) fn holds_anything(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}
