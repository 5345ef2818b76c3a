//! `library repair`: copies a library's folder aside, and repairs the library.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};
use journeyman_disk::{DiskStore, FolderFault, Salvaged, salvage};
use serde_json::json;

use crate::{
    aside::{self, Aside},
    check::{faults_json, faults_text},
    files::{parent, sync_all},
    library::{Opened, load, options},
    outcome::make,
    output::{Answer, Exit, cell, error_json, error_text, of_them},
    progress::Progress,
};

const REPAIR: &str = "repair";
/// A file that each opening recreates.
const NOT_COPIED: &str = "library.db-shm";

/// The result of a repair.
#[derive(Debug)]
struct Repaired {
    /// `None` where the database was sound.
    salvaged: Option<Salvaged>,
    /// The skills that were quarantined, because they may have been held back before.
    quarantined: Vec<String>,
    written: usize,
    folder_faults: Vec<FolderFault>,
    /// Folders of the copy that the repaired library does not have.
    not_taken_in: Vec<String>,
}

pub(crate) async fn repair(root: &Path, place: Option<&Path>) -> Result<Answer> {
    let progress = Progress::of("checking the library");
    let damaged = match journeyman_disk::check(root) {
        Ok(report) => !report.faults.is_empty(),
        Err(error) if error.kind() == ErrorKind::Corrupt => true,
        Err(error) => return Err(error),
    };
    progress.step("copying the library aside");
    let place = place.map_or_else(|| free_place(root), |path| Ok(path.to_owned()))?;
    refuse_within(root, &place)?;
    copy_all(root, &place)?;
    sync_all(&place).map_err(|source| not_copied(&place, source))?;
    let repaired = if damaged {
        progress.step("recovering what can be read");
        match salvage(&place, root) {
            Err(error) if error.kind() == ErrorKind::Corrupt => return Err(dead(error, &place)),
            Err(error) => Err(error),
            Ok(salvaged) => rebuilt(root, &place, salvaged, &progress).await,
        }
    } else {
        written(root, &place, &progress).await
    };
    let repaired = repaired.map_err(|error| error.with("copy", place.display()))?;
    drop(progress);
    Ok(repaired.answer(&place))
}

/// The error for a library of which nothing can be read. Removes the copy, which is of no use.
fn dead(error: Error, copy: &Path) -> Error {
    let error = error.hint(
        "nothing of it can be saved, and nothing was changed: put a backup of `library.db` in its place and remove \
         `library.head`, `library.db-wal` and `library.db-shm`, or import the skills' folders into a new library",
    );
    match fs::remove_dir_all(copy) {
        Ok(()) => error,
        Err(_) => error.with("copy", copy.display()),
    }
}

/// Makes a new database from the readable part of the damaged one. A person's change of a folder looks the same as a lost
/// commit, so no folder is taken in; but a skill whose folder was held back is quarantined.
async fn rebuilt(
    root: &Path,
    place: &Path,
    salvaged: Salvaged,
    progress: &Progress,
) -> Result<Repaired> {
    progress.step("writing the folders anew");
    let mut opening = options(false);
    opening.folders = false;
    let store = DiskStore::open(root, &opening)?;
    let library = load(&store).await?;
    let before = Aside::read(place)?;
    let changes = before.to_hold_back(&library);
    let quarantined = changes.iter().filter_map(aside::of);
    let quarantined: Vec<String> = quarantined
        .filter_map(|id| Some(library.get(id)?.skill.name.to_string()))
        .collect();
    let opened = Opened { store, library };
    make(&opened, changes, aside::REASON, false).await?;
    let report = opened.store.rebuild_folders().await?;
    Ok(Repaired {
        salvaged: Some(salvaged),
        quarantined,
        written: report.written,
        folder_faults: report.faults,
        not_taken_in: before.not_in(root, &[]),
    })
}

/// Rewrites the folders of a sound library, after people's changes in them are taken in.
async fn written(root: &Path, place: &Path, progress: &Progress) -> Result<Repaired> {
    progress.step("writing the folders anew");
    let store = DiskStore::open(root, &options(false))?;
    let taken_in = store.sync_folders().await?.taken_in;
    let report = store.rebuild_folders().await?;
    Ok(Repaired {
        salvaged: None,
        quarantined: Vec::new(),
        written: report.written,
        folder_faults: report.faults,
        not_taken_in: Aside::read(place)?.not_in(root, &taken_in),
    })
}

impl Repaired {
    fn answer(self, place: &Path) -> Answer {
        let lost = self.salvaged.as_ref().map_or(&[][..], |saved| &saved.lost);
        let whole = lost.is_empty()
            && self.quarantined.is_empty()
            && self.not_taken_in.is_empty()
            && self.folder_faults.is_empty();
        Answer {
            json: json!({
                "copy": place.display().to_string(),
                "database_rebuilt": self.salvaged.is_some(),
                "saved": self.salvaged.as_ref().map(|saved| json!({
                    "revision": saved.revision,
                    "journal_entries": saved.entries,
                    "files": saved.files,
                })),
                "lost": lost.iter().map(error_json).collect::<Vec<_>>(),
                "quarantined": self.quarantined,
                "folders_written": self.written,
                "folder_faults": faults_json(&self.folder_faults),
                "not_taken_in": self.not_taken_in,
            }),
            text: self.text(place),
            exit: if whole { Exit::Done } else { Exit::Refused },
        }
    }

    fn text(&self, place: &Path) -> String {
        let place = cell(&place.display().to_string());
        let mut text = format!("copy of the library before the repair: {place}\n");
        match &self.salvaged {
            None => text.push_str("the database is sound\n"),
            Some(saved) => {
                text.push_str(&format!(
                    "saved into a new database: the commits up to revision {}, {}, {}\n",
                    saved.revision,
                    of_them(saved.entries, "journal entry", "journal entries"),
                    of_them(saved.files, "file", "files")
                ));
                for lost in &saved.lost {
                    text.push_str(&format!("not saved: {}\n", error_text(lost)));
                }
            }
        }
        for name in &self.quarantined {
            text.push_str(&format!(
                "quarantined: {name}, which was not offered before; read it, and `journeyman skill release` it\n"
            ));
        }
        let written = of_them(self.written as u64, "folder", "folders");
        text.push_str(&format!("{written} rewritten\n"));
        text.push_str(&faults_text(&self.folder_faults));
        for folder in &self.not_taken_in {
            let folder = cell(folder);
            text.push_str(&format!(
                "not in the library: {folder} in the copy; read it, and `journeyman skill import` it from there\n"
            ));
        }
        text
    }
}

/// A path beside the library where nothing is.
fn free_place(root: &Path) -> Result<PathBuf> {
    let root = root.canonicalize();
    let root = root.map_err(|source| not_copied(Path::new("."), source))?;
    for number in 1_u32.. {
        let mut name = root.as_os_str().to_owned();
        name.push(format!(".before-repair-{number}"));
        let path = PathBuf::from(name);
        if path.symlink_metadata().is_err() {
            return Ok(path);
        }
    }
    Err(Error::invalid(REPAIR, "there is no free name for the copy")
        .hint("name a place for the copy with --aside"))
}

/// Refuses a copy inside the library, which would copy itself without end.
fn refuse_within(root: &Path, place: &Path) -> Result<()> {
    let whole = |path: &Path| {
        path.canonicalize()
            .map_err(|source| not_copied(path, source))
    };
    if !whole(&parent(place))?.starts_with(whole(root)?) {
        return Ok(());
    }
    let message = "the copy would lie within the library, so nothing was changed";
    Err(Error::invalid(REPAIR, message)
        .with("path", place.display())
        .hint("name a place outside of it with --aside"))
}

/// Copies a folder with its content.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    let unread = |source| not_copied(from, source);
    fs::create_dir(to).map_err(|source| not_copied(to, source))?;
    for entry in fs::read_dir(from).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(unread)?;
        let unwritten = |source| not_copied(&copy, source);
        if kind.is_dir() {
            copy_all(&path, &copy)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).map_err(unread)?;
            std::os::unix::fs::symlink(target, &copy).map_err(unwritten)?;
        } else if kind.is_file() && entry.file_name() != NOT_COPIED {
            fs::copy(&path, &copy).map_err(unwritten)?;
        }
    }
    Ok(())
}

fn not_copied(path: &Path, source: io::Error) -> Error {
    let there = source.kind() == io::ErrorKind::AlreadyExists;
    let hint = match there {
        true => "name another place with --aside",
        false => {
            "see that it is there, has room and may be read and written by this user; --aside names another place for the copy"
        }
    };
    let message = "the library could not be copied aside, so nothing was changed";
    let kind = if there {
        ErrorKind::Invalid
    } else {
        ErrorKind::Unavailable
    };
    Error::new(kind, REPAIR, message)
        .with("path", path.display())
        .hint(hint)
        .source_from(source)
}
