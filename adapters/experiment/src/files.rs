//! Files that replace another one whole.

use std::{
    fs::{File, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use journeyman::Result;

use crate::fault::unwritable;

/// The ending of a file that is not whole yet.
pub(crate) const UNFINISHED: &str = "new";

/// Puts a file with these bytes at `path`. A reader sees the file before or this one, whole.
///
/// # Errors
/// `Unavailable` where it cannot be written.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |source| unwritable(path, source);
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let parent = parent.unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .suffix(&format!(".{UNFINISHED}"))
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(parent)
        .map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    // The folder's entry is on the disk too.
    let synced = File::open(parent).and_then(|folder| folder.sync_all());
    synced.map_err(failed)
}
