//! Skills out, in the forms of others.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use journeyman::{
    CommitKey, Error, ErrorKind, Result, Revision,
    contract::{SkillFiles, SkillStore},
    domain::{Cause, Commit, LibraryChange, Skill, SkillMd},
    interchange::{arise, skillrl},
};
use journeyman_disk::DiskStore;
use serde_json::json;
use tempfile::{NamedTempFile, TempDir};

use crate::{
    arguments::{Export, Format},
    library::{Opened, find, open, options},
    output::{Answer, Progress, table},
};

const EXPORT: &str = "export";

pub(crate) async fn export(root: &Path, export: &Export) -> Result<Answer> {
    let progress = Progress::of("writing skills");
    let opened = open(root, false).await?;
    let skills = chosen(&opened, export)?;
    match export.format {
        Format::SkillFolder => folders(&opened.store, &skills, &export.output).await?,
        Format::Skillrl => text(&export.output, skillrl::write(&skills)?)?,
        Format::Arise => text(&export.output, arise::write(&skills)?)?,
        Format::Archive => archive(&opened.store, &skills, &export.output).await?,
    }
    drop(progress);
    let rows: Vec<Vec<String>> = skills
        .iter()
        .map(|skill| vec![skill.name.to_string(), skill.version.to_string()])
        .collect();
    let output = export.output.display().to_string();
    let names: Vec<_> = skills.iter().map(|skill| &skill.name).collect();
    Ok(Answer {
        text: format!(
            "{}written to {output}\n",
            table(&["NAME", "VERSION"], &rows)
        ),
        json: json!({ "skills": names, "output": output }),
        ..Answer::default()
    })
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

fn is_there(path: &Path) -> Error {
    Error::invalid(EXPORT, "something is there already")
        .with("path", path.display())
        .hint("name a place where nothing is yet")
}

fn unwritable(path: &Path, source: std::io::Error) -> Error {
    if source.kind() == std::io::ErrorKind::AlreadyExists {
        return is_there(path);
    }
    Error::new(ErrorKind::Unavailable, EXPORT, "the path cannot be written")
        .with("path", path.display())
        .hint("see that the folder is there, has room and may be written by this user")
        .source_from(source)
}

/// The folder that a path lies in.
pub(crate) fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// A file beside the one that is to be written, which nothing may be yet.
pub(crate) fn begin(path: &Path) -> Result<NamedTempFile> {
    if path.symlink_metadata().is_ok() {
        return Err(is_there(path));
    }
    NamedTempFile::new_in(parent(path)).map_err(|source| unwritable(path, source))
}

/// The file is there, whole.
pub(crate) fn finish(file: NamedTempFile, path: &Path) -> Result<()> {
    file.as_file()
        .sync_all()
        .map_err(|source| unwritable(path, source))?;
    file.persist_noclobber(path)
        .map(drop)
        .map_err(|error| unwritable(path, error.error))
}

fn whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = begin(path)?;
    file.write_all(bytes)
        .map_err(|source| unwritable(path, source))?;
    finish(file, path)
}

fn text(path: &Path, text: String) -> Result<()> {
    whole(path, format!("{text}\n").as_bytes())
}

async fn folders(store: &DiskStore, skills: &[Skill], output: &Path) -> Result<()> {
    let place = |skill: &Skill| output.join(skill.name.as_str());
    // Before anything is written.
    let there = skills
        .iter()
        .map(place)
        .find(|path| path.symlink_metadata().is_ok());
    if let Some(path) = there {
        return Err(is_there(&path));
    }
    for skill in skills {
        let folder = place(skill);
        let failed = |source| unwritable(&folder, source);
        let file = SkillMd::from(skill).write()?;
        fs::create_dir_all(output).map_err(failed)?;
        fs::create_dir(&folder).map_err(failed)?;
        fs::write(folder.join("SKILL.md"), file).map_err(failed)?;
        for (path, file) in &skill.files {
            let bytes = bytes(store, &file.sha256).await?;
            let path = folder.join(path.as_str());
            fs::create_dir_all(parent(&path)).map_err(failed)?;
            fs::write(path, bytes).map_err(failed)?;
        }
    }
    Ok(())
}

async fn bytes(store: &DiskStore, sha256: &str) -> Result<Vec<u8>> {
    store.get(sha256).await?.ok_or_else(|| {
        Error::new(
            ErrorKind::Corrupt,
            EXPORT,
            "a file that a skill names is not there",
        )
        .with("sha256", sha256)
        .hint("see `journeyman library check`")
    })
}

/// The skills alone, as a library of one commit.
async fn archive(store: &DiskStore, skills: &[Skill], output: &Path) -> Result<()> {
    let folder = TempDir::new_in(parent(output)).map_err(|source| unwritable(output, source))?;
    let mut alone = options(true);
    alone.folders = false;
    let other = DiskStore::open(folder.path().join("library"), &alone)?;
    let mut changes = Vec::new();
    for skill in skills {
        for file in skill.files.values() {
            other.put(&bytes(store, &file.sha256).await?).await?;
        }
        changes.push(LibraryChange::Add(Box::new(skill.clone())));
        // One that came from elsewhere would be held back anew.
        changes.push(LibraryChange::SetState {
            skill: skill.id.clone(),
            state: skill.state,
            reason: "as in the library that it came from".to_owned(),
        });
    }
    let commit = Commit {
        base: Revision(0),
        key: CommitKey::new("export"),
        cause: Cause {
            run: None,
            task: None,
            reason: "exported".to_owned(),
        },
        changes,
    };
    other.commit(&commit).await?;
    let (archive, _) = other.write_archive(Vec::new(), false).await?;
    whole(output, &archive)
}
