//! Looking a library over, and repairing it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};
use journeyman_disk::{CheckReport, DiskStore, Salvaged, SkillFolder, salvage};
use serde_json::{Value, json};

use crate::{
    library::options,
    output::{Answer, Exit, Progress, cell, error_json, error_text},
};

const REPAIR: &str = "repair";
/// The folders that hold skills.
const AREAS: [&str; 2] = ["skills", "held"];
/// What each opening makes anew.
const NOT_COPIED: &str = "library.db-shm";

pub(crate) fn check(root: &Path) -> Result<Answer> {
    let progress = Progress::of("checking the library");
    let report = journeyman_disk::check(root)?;
    drop(progress);
    let sound = report.faults.is_empty();
    let exit = match sound && report.folder_faults.is_empty() {
        true => Exit::Done,
        false if sound => Exit::Refused,
        false => Exit::Damaged,
    };
    let folder_faults = report.folder_faults.iter();
    let folder_faults: Vec<Value> = folder_faults
        .map(|fault| json!({ "folder": fault.folder, "error": error_json(&fault.error) }))
        .collect();
    Ok(Answer {
        json: json!({
            "sound": exit == Exit::Done,
            "revision": report.revision,
            "journal_entries": report.entries,
            "files": report.files,
            "folders": report.folders,
            "faults": report.faults.iter().map(error_json).collect::<Vec<_>>(),
            "folder_faults": folder_faults,
            "pending": report.pending,
        }),
        text: told(&report),
        exit,
    })
}

fn told(report: &CheckReport) -> String {
    let mut text = String::new();
    for fault in &report.faults {
        text.push_str(&format!("fault: {}\n", error_text(fault)));
    }
    for fault in &report.folder_faults {
        let folder = cell(&fault.folder);
        text.push_str(&format!("fault: {folder}: {}\n", error_text(&fault.error)));
    }
    for folder in &report.pending {
        let folder = cell(folder);
        text.push_str(&format!(
            "{folder} differs from the library; the next opening brings them together\n"
        ));
    }
    let faults = report.faults.len() + report.folder_faults.len();
    let said = match faults {
        0 => "sound".to_owned(),
        1 => "1 fault; `journeyman library repair` saves what can be saved".to_owned(),
        n => format!("{n} faults; `journeyman library repair` saves what can be saved"),
    };
    text.push_str(&format!(
        "{said}: revision {}, {} journal entries, {} files, {} folders\n",
        report.revision, report.entries, report.files, report.folders
    ));
    text
}

pub(crate) async fn repair(root: &Path, aside: Option<&Path>) -> Result<Answer> {
    let progress = Progress::of("checking the library");
    let damaged = match journeyman_disk::check(root) {
        Ok(report) => !report.faults.is_empty(),
        Err(error) if error.kind() == ErrorKind::Corrupt => true,
        Err(error) => return Err(error),
    };
    progress.step("copying the library aside");
    let aside = aside.map_or_else(|| free_place(root), |path| Ok(path.to_owned()))?;
    copy_all(root, &aside)?;
    on_disk(&aside)?;
    let kept = |error: Error| error.with("copy", aside.display());
    let salvaged = if damaged {
        progress.step("saving what can be read");
        Some(salvage(&aside, root).map_err(kept)?)
    } else {
        None
    };
    progress.step("writing the folders anew");
    let mut opening = options(false);
    // What a person changed is taken in where the library is sound; else nobody knows what it was changed from.
    opening.folders = !damaged;
    let store = DiskStore::open(root, &opening).map_err(kept)?;
    if !damaged {
        store.sync_folders().await.map_err(kept)?;
    }
    let report = store.rebuild_folders().await.map_err(kept)?;
    drop(store);
    let not_taken_in = not_taken_in(&aside, root)?;
    drop(progress);
    let lost = salvaged.as_ref().map_or(&[][..], |salvaged| &salvaged.lost);
    let whole = lost.is_empty() && not_taken_in.is_empty() && report.faults.is_empty();
    let faults = report.faults.iter();
    let faults: Vec<Value> = faults
        .map(|fault| json!({ "folder": fault.folder, "error": error_json(&fault.error) }))
        .collect();
    Ok(Answer {
        json: json!({
            "copy": aside.display().to_string(),
            "database_rebuilt": damaged,
            "saved": salvaged.as_ref().map(|saved| json!({
                "revision": saved.revision,
                "journal_entries": saved.entries,
                "files": saved.files,
            })),
            "lost": lost.iter().map(error_json).collect::<Vec<_>>(),
            "folders_written": report.written,
            "folder_faults": faults,
            "not_taken_in": not_taken_in,
        }),
        text: repaired(&aside, salvaged.as_ref(), report.written, &not_taken_in),
        exit: if whole { Exit::Done } else { Exit::Refused },
    })
}

fn repaired(
    aside: &Path,
    salvaged: Option<&Salvaged>,
    written: usize,
    not_taken_in: &[String],
) -> String {
    let mut text = format!("the library as it was: {}\n", aside.display());
    match salvaged {
        None => text.push_str("the database is sound\n"),
        Some(saved) => {
            text.push_str(&format!(
                "saved into a new database: the commits up to revision {}, {} journal entries, {} files\n",
                saved.revision, saved.entries, saved.files
            ));
            for lost in &saved.lost {
                text.push_str(&format!("not saved: {}\n", error_text(lost)));
            }
        }
    }
    text.push_str(&format!("{written} folders written anew\n"));
    for folder in not_taken_in {
        let folder = cell(folder);
        text.push_str(&format!(
            "not in the library: {folder} in the copy; look at it, and `journeyman skill import` it from there\n"
        ));
    }
    text
}

/// The folders of the copy that say something else than those that were written anew, or that are not there any more.
fn not_taken_in(aside: &Path, root: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for area in AREAS {
        let Ok(entries) = fs::read_dir(aside.join(area)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.map_err(|source| failed(aside, source))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || entry.path().is_file() {
                continue;
            }
            let before = SkillFolder::read(&entry.path());
            let now = AREAS.map(|area| SkillFolder::read(&root.join(area).join(&name)));
            let same = before.is_ok_and(|before| now.iter().flatten().any(|now| *now == before));
            if !same {
                all.push(format!("{area}/{name}"));
            }
        }
    }
    all.sort_unstable();
    Ok(all)
}

/// A place beside the library where nothing is.
fn free_place(root: &Path) -> Result<PathBuf> {
    let root = root.canonicalize().map_err(|source| failed(root, source))?;
    for number in 1_u32.. {
        let mut name = root.as_os_str().to_owned();
        name.push(format!(".before-repair-{number}"));
        let path = PathBuf::from(name);
        if path.symlink_metadata().is_err() {
            return Ok(path);
        }
    }
    Err(Error::invalid(REPAIR, "there is no free name for the copy"))
}

/// Waits until a whole file system is on the disk: one wait, however many files there are.
fn on_disk(path: &Path) -> Result<()> {
    let synced = || Ok(rustix::fs::syncfs(fs::File::open(path)?)?);
    synced().map_err(|source| failed(path, source))
}

/// Copies a folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    let unread = |source| failed(from, source);
    fs::create_dir(to).map_err(|source| failed(to, source))?;
    for entry in fs::read_dir(from).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(unread)?;
        let unwritten = |source| failed(&copy, source);
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

fn failed(path: &Path, source: io::Error) -> Error {
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
