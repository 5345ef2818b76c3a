//! `skill export`: writes skills in each format.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use journeyman::{
    Error, ErrorKind, Result, SkillId,
    contract::{SkillFiles, SkillStore},
    domain::{Cause, Commit, CommitKey, FilePath, LibraryChange, Revision, Skill},
    library::{SkillLibrary, format::SkillMd},
};
use journeyman_disk::DiskStore;
use journeyman_interchange::{arise, evals, skillrl};
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    arguments::{Export, Format},
    files::{is_there, parent, sync_all, sync_folder, unwritable, whole},
    library::{Opened, file_bytes, find, open, options},
    output::{Answer, error_json, table, warn, word},
    progress::Progress,
};

const EXPORT: &str = "export";

/// The texts of evals/evals.json, by skill.
type Evals = BTreeMap<SkillId, String>;

pub(crate) async fn export(root: &Path, export: &Export) -> Result<Answer> {
    if export.evals && export.format != Format::SkillFolder {
        return Err(Error::invalid(EXPORT, "only a skill's folder holds evals")
            .hint("use `--evals` with `--format skill-folder`"));
    }
    let progress = Progress::of("writing skills");
    let opened = open(root, false).await?;
    let skills = chosen(&opened, export)?;
    let made = match export.evals {
        true => evals_of(&opened.library, &skills)?,
        false => Evals::new(),
    };
    match export.format {
        Format::SkillFolder => folders(&opened.store, (&skills, &made), &export.output).await?,
        Format::Skillrl => text(&export.output, skillrl::write(&skills)?)?,
        Format::Arise => text(&export.output, arise::write(&skills)?)?,
        Format::Archive => archive(&opened.store, &skills, &export.output).await?,
    }
    drop(progress);
    let lost: Vec<Error> = skills
        .iter()
        .filter_map(|skill| lost(skill, export.format))
        .collect();
    lost.iter().for_each(warn);
    let rows: Vec<Vec<String>> = skills
        .iter()
        .map(|skill| {
            vec![
                skill.name.to_string(),
                skill.version.to_string(),
                word(&skill.state),
            ]
        })
        .collect();
    let output = export.output.display().to_string();
    let names: Vec<_> = skills.iter().map(|skill| &skill.name).collect();
    let with_evals = skills.iter().filter(|skill| made.contains_key(&skill.id));
    let with_evals: Vec<_> = with_evals.map(|skill| &skill.name).collect();
    let mut text = table(&["NAME", "VERSION", "STATE"], &rows);
    text.push_str(&format!("written to {output}\n"));
    if export.evals {
        let (count, all) = (with_evals.len(), skills.len());
        text.push_str(&format!(
            "evals were made of the test bundles of {count} of {all} skills\n"
        ));
    }
    Ok(Answer {
        text,
        json: json!({
            "skills": names,
            "evals": with_evals,
            "output": output,
            "warnings": lost.iter().map(error_json).collect::<Vec<_>>(),
        }),
        ..Answer::default()
    })
}

/// A warning about the parts of a skill that the format does not carry.
fn lost(skill: &Skill, format: Format) -> Option<Error> {
    let error = match format {
        Format::SkillFolder => return None,
        Format::Archive if skill.state.is_offered() => return None,
        Format::Archive => Error::invalid(
            EXPORT,
            "an import of the archive takes offered skills only, and this skill is not offered",
        )
        .with("state", word(&skill.state))
        .hint("release it before it is written, or use `--format skill-folder`"),
        Format::Skillrl | Format::Arise => {
            let parts = [
                ("files", !skill.files.is_empty()),
                ("allowed-tools", !skill.allowed_tools.is_empty()),
                ("license", skill.license.is_some()),
                ("compatibility", skill.compatibility.is_some()),
            ];
            let parts = parts.iter().filter(|(_, is_there)| *is_there);
            let parts: Vec<&str> = parts.map(|(name, _)| *name).collect();
            if parts.is_empty() {
                return None;
            }
            let message = "this format cannot hold the whole skill, so parts of it were left out";
            Error::invalid(EXPORT, message)
                .with("left_out", parts.join(", "))
                .hint("`--format skill-folder` and `--format archive` hold the whole skill")
        }
    };
    Some(error.with("skill", &skill.name))
}

/// The skills that are asked for, each once.
fn chosen(opened: &Opened, export: &Export) -> Result<Vec<Skill>> {
    let library = &opened.library;
    let entries = || library.entries().map(|entry| &entry.skill);
    if export.all {
        return Ok(entries().cloned().collect());
    }
    if let Some(set) = &export.set {
        let key = match export.format {
            Format::Skillrl => "skillrl-set",
            Format::Arise => "arise-set",
            Format::SkillFolder | Format::Archive => {
                return Err(Error::invalid(EXPORT, "only banks and documents are sets")
                    .hint("use --set with `--format skillrl` or `--format arise`"));
            }
        };
        let of_set = |skill: &&Skill| skill.metadata.get(key) == Some(set);
        let skills: Vec<Skill> = entries().filter(of_set).cloned().collect();
        if skills.is_empty() {
            let message = "no skill came from a source of this name";
            return Err(Error::new(ErrorKind::NotFound, EXPORT, message)
                .with("set", set)
                .hint("a set is named by `skill import --source`, or else by its file"));
        }
        return Ok(skills);
    }
    let mut seen = BTreeSet::new();
    let mut skills = Vec::new();
    for name in &export.names {
        let skill = &find(library, name)?.skill;
        if seen.insert(&skill.id) {
            skills.push(skill.clone());
        }
    }
    Ok(skills)
}

/// The evals that test bundles make, of skills that bring none of their own.
fn evals_of(library: &SkillLibrary, skills: &[Skill]) -> Result<Evals> {
    let mut made = Evals::new();
    for skill in skills {
        // A file of this name would also be in the way of the folder.
        let takes = |path: &FilePath| {
            let path = FilePath::folded(path.as_str());
            path == evals::PATH || evals::PATH.starts_with(&format!("{path}/"))
        };
        if skill.files.keys().any(takes) {
            continue;
        }
        if let Some(of_bundle) = evals::of_library(library, &skill.id) {
            made.insert(skill.id.clone(), evals::write(&of_bundle)?);
        }
    }
    Ok(made)
}

fn text(path: &Path, text: String) -> Result<()> {
    whole(EXPORT, path, format!("{text}\n").as_bytes())
}

/// Writes all folders, whole and synced to the disk, or none.
async fn folders(
    store: &DiskStore,
    (skills, made): (&[Skill], &Evals),
    output: &Path,
) -> Result<()> {
    let failed = |source| unwritable(EXPORT, output, source);
    let there = output.is_dir();
    // Checked before anything is written.
    if !there && output.symlink_metadata().is_ok() {
        return Err(is_there(EXPORT, output));
    }
    for skill in skills {
        let path = output.join(skill.name.as_str());
        if path.symlink_metadata().is_ok() {
            return Err(is_there(EXPORT, &path));
        }
    }
    // Staged on the same file system, so that a rename moves it.
    let beside = if there {
        output.to_owned()
    } else {
        parent(output)
    };
    fs::create_dir_all(&beside).map_err(failed)?;
    let staged = TempDir::new_in(&beside).map_err(failed)?;
    let whole = staged.path().join("whole");
    fs::create_dir(&whole).map_err(failed)?;
    for skill in skills {
        let place = whole.join(skill.name.as_str());
        folder(store, skill, &place, output).await?;
        if let Some(text) = made.get(&skill.id) {
            let path = place.join(evals::PATH);
            fs::create_dir_all(parent(&path)).map_err(failed)?;
            fs::write(path, format!("{text}\n")).map_err(failed)?;
        }
    }
    sync_all(&whole).map_err(failed)?;
    if !there {
        put(&whole, output).map_err(failed)?;
        return sync_folder(&beside).map_err(failed);
    }
    let mut done = Vec::new();
    for skill in skills {
        let (from, to) = [&whole, output]
            .map(|place| place.join(skill.name.as_str()))
            .into();
        if let Err(source) = put(&from, &to) {
            // Back into the staging folder, which is removed.
            for (from, to) in &done {
                let _ = fs::rename(to, from);
            }
            return Err(unwritable(EXPORT, &to, source));
        }
        done.push((from, to));
    }
    sync_folder(output).map_err(failed)
}

/// Moves a folder to a path where nothing may be.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system does not support NOREPLACE.
        Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_ok() => {
            Err(io::ErrorKind::AlreadyExists.into())
        }
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(from, to),
        put => Ok(put?),
    }
}

async fn folder(store: &DiskStore, skill: &Skill, folder: &Path, output: &Path) -> Result<()> {
    let failed = |source| unwritable(EXPORT, output, source);
    let file = SkillMd::from(skill)
        .write()
        .map_err(|error| error.with("skill", &skill.name))?;
    fs::create_dir(folder).map_err(failed)?;
    fs::write(folder.join("SKILL.md"), file).map_err(failed)?;
    for (path, file) in &skill.files {
        let bytes = file_bytes(EXPORT, store, &file.sha256).await?;
        let path = folder.join(path.as_str());
        fs::create_dir_all(parent(&path)).map_err(failed)?;
        fs::write(path, bytes).map_err(failed)?;
    }
    Ok(())
}

/// Writes the skills without their history, as an archive of a library with one commit.
async fn archive(store: &DiskStore, skills: &[Skill], output: &Path) -> Result<()> {
    let folder =
        TempDir::new_in(parent(output)).map_err(|source| unwritable(EXPORT, output, source))?;
    let mut alone = options(true);
    alone.folders = false;
    let other = DiskStore::open(folder.path().join("library"), &alone)?;
    let mut changes = Vec::new();
    for skill in skills {
        for file in skill.files.values() {
            let bytes = file_bytes(EXPORT, store, &file.sha256).await?;
            other.put(&bytes).await?;
        }
        changes.push(LibraryChange::Add(Box::new(skill.clone())));
        // Adding an imported skill quarantines it again.
        changes.push(LibraryChange::SetState {
            skill: skill.id.clone(),
            state: skill.state,
            reason: "as in the library that it came from".to_owned(),
        });
    }
    let commit = Commit::new(
        Revision(0),
        CommitKey::new("export"),
        Cause::new("exported"),
        changes,
    );
    other.commit(&commit).await?;
    let (archive, _) = other.write_archive(Vec::new(), false).await?;
    whole(EXPORT, output, &archive)
}
