//! File helpers of a salvage.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use journeyman::Result;

use crate::convert::file_failed;

/// The operation that errors name.
pub(super) const SALVAGE: &str = "salvage";

/// The path with an ending added to its name.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Removes a file, where it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(file_failed(SALVAGE, path, error))
        }
        _ => Ok(()),
    }
}
