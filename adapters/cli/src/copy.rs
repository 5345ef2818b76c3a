//! `library copy` and `library restore`.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter},
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result, contract::SkillStore, domain::Revision};
use journeyman_disk::{ArchiveLimits, Archived, DiskStore};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::{
    files::{begin, finish, holds_anything, is_there, parent, unreadable, unwritable},
    library::{load, open, options},
    output::{Answer, of_them},
    progress::Progress,
};

const COPY: &str = "copy";
const RESTORE: &str = "restore";

pub(crate) async fn copy(
    root: &Path,
    target: Option<PathBuf>,
    archive: Option<PathBuf>,
) -> Result<Answer> {
    let progress = Progress::of("copying the library");
    let opened = open(root, false).await?;
    if let Some(path) = archive {
        let file = begin(COPY, &path)?;
        let written = spool(&opened.store, &file, &path).await?;
        finish(COPY, file, &path)?;
        drop(progress);
        return Ok(said(&path, written));
    }
    let target = target.unwrap_or_default();
    refuse_full(COPY, &target)?;
    let file = NamedTempFile::new_in(parent(&target))
        .map_err(|source| unwritable(COPY, &target, source))?;
    let written = spool(&opened.store, &file, &target).await?;
    let input = file
        .reopen()
        .map_err(|source| unwritable(COPY, &target, source))?;
    progress.step("writing the copy");
    let store = restored(&target, input).await?.0;
    // Another process may have committed since the library was opened; the copy then has that commit too.
    let copied = load(&store).await?;
    if copied.revision() == opened.library.revision() && copied != opened.library {
        let message = "the copy is not the same library";
        return Err(Error::new(ErrorKind::Internal, COPY, message)
            .hint("this is a fault of the command: please report it"));
    }
    drop(progress);
    Ok(said(&target, written))
}

/// Writes an archive into a file.
async fn spool(store: &DiskStore, file: &NamedTempFile, path: &Path) -> Result<Archived> {
    let out = file
        .reopen()
        .map_err(|source| unwritable(COPY, path, source))?;
    let (_, written) = store.write_archive(BufWriter::new(out), true).await?;
    Ok(written)
}

pub(crate) async fn restore(root: &Path, archive: &Path) -> Result<Answer> {
    let progress = Progress::of("restoring the library");
    let file = File::open(archive).map_err(|source| unreadable(RESTORE, archive, source))?;
    refuse_full(RESTORE, root)?;
    let (_, written) = restored(root, file)
        .await
        .map_err(|error| error.with("archive", archive.display()))?;
    drop(progress);
    Ok(said(root, written))
}

/// Makes a library from an archive in an empty folder. Where that fails, removes what was written.
async fn restored(target: &Path, input: File) -> Result<(DiskStore, Archived)> {
    let made = !target.exists();
    let store = DiskStore::open(target, &options(true))?;
    let filled = store.restore(BufReader::new(input), own()).await;
    let Err(error) = filled else {
        return filled.map(|archived| (store, archived));
    };
    // Another process may have filled the library first; then it is not ours to remove.
    let is_ours = (store.load().await).is_ok_and(|snapshot| snapshot.revision == Revision(0));
    drop(store);
    if is_ours {
        // The first failure is reported, even if the removal fails too.
        let _ = empty(target);
        if made {
            let _ = fs::remove_dir(target);
        }
    }
    Err(error)
}

/// Removes a folder's content but not the folder, which may be the current directory.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Limits for an archive of the user's own: lines of 4 GiB, 1 PiB in all.
fn own() -> ArchiveLimits {
    let mut limits = ArchiveLimits::default();
    limits.line = 1 << 32;
    limits.total = 1 << 50;
    limits
}

/// Refuses a path that holds anything: a new library replaces nothing, and takes in no folders that it finds.
fn refuse_full(operation: &'static str, target: &Path) -> Result<()> {
    if target.symlink_metadata().is_ok() && !target.is_dir() {
        return Err(is_there(operation, target));
    }
    if !holds_anything(target) {
        return Ok(());
    }
    Err(Error::invalid(operation, "the folder is not empty")
        .with("path", target.display())
        .hint("name a folder that is empty or not there yet"))
}

fn said(path: &Path, what: Archived) -> Answer {
    let path = path.display().to_string();
    let missing = match what.missing {
        0 => String::new(),
        1 => "1 file of a skill is lost, and not included: `journeyman library check` names it\n"
            .to_owned(),
        n => format!(
            "{n} files of skills are lost, and not included: `journeyman library check` names them\n"
        ),
    };
    Answer {
        text: format!(
            "revision {}, {} and {} in {path}\n{missing}",
            what.revision,
            of_them(what.entries, "journal entry", "journal entries"),
            of_them(what.files, "file", "files")
        ),
        json: json!({
            "output": path,
            "revision": what.revision,
            "journal_entries": what.entries,
            "files": what.files,
            "missing_files": what.missing,
        }),
        ..Answer::default()
    }
}
