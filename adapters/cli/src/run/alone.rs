//! One run of a name at a time in a library: the runs of two would have the same ids.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
};

use journeyman::{Error, ErrorKind, Result};

use super::form::RUN;
use crate::files::unwritable;

/// Holds the name until the file is closed, or the process ends.
///
/// # Errors
/// `Unavailable` while another process holds it; `Unavailable` or `Invalid` where the library cannot be written.
pub(super) fn alone(library: &Path, name: &str) -> Result<File> {
    let folder = library.join(".journeyman");
    let path = folder.join(format!("run-{name}.lock"));
    let unwritten = |error| unwritable(RUN, &path, error);
    fs::create_dir_all(&folder).map_err(unwritten)?;
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(unwritten)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let message = "another run of this name is using the library";
            Err(Error::new(ErrorKind::Unavailable, RUN, message)
                .with("name", name)
                .with("library", library.display())
                .hint("wait until it has ended, or give this file another `name`"))
        }
        // Some network drives have no locks. The journal still refuses the second run, though later.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_name_is_held_until_its_run_ends() {
        let library = TempDir::new().unwrap();
        let first = alone(library.path(), "shop").unwrap();
        let refused = alone(library.path(), "shop").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        alone(library.path(), "desk").unwrap();
        drop(first);
        alone(library.path(), "shop").unwrap();
    }
}
