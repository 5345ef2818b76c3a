//! The skills' folders of a library as they were before a repair.

use std::{collections::BTreeSet, fs, io, path::Path};

use journeyman::{
    Error, ErrorKind, Result, SkillId,
    domain::{LibraryChange, Skill, State},
    library::{Entry, SkillLibrary, format::SkillMd},
};
use journeyman_disk::SkillFolder;

/// The folder of the offered skills, and the folder of all others.
const AREAS: [&str; 2] = [OFFERED, "held"];
const OFFERED: &str = "skills";
pub(crate) const REASON: &str = "the library was repaired, and this was not offered before";

/// The skills' folders of a copy.
#[derive(Debug)]
pub(crate) struct Aside {
    folders: Vec<Folder>,
}

#[derive(Debug)]
struct Folder {
    area: &'static str,
    name: String,
    /// `None` where the folder cannot be read as a skill's.
    content: Option<Content>,
}

/// A folder's content. SKILL.md counts as it is parsed, not as it is spelled.
#[derive(Debug, PartialEq)]
struct Content {
    file: SkillMd,
    folder: SkillFolder,
}

impl Content {
    fn read(path: &Path, name: &str) -> Option<Self> {
        let mut folder = SkillFolder::read(path).ok()?;
        let text = String::from_utf8(std::mem::take(&mut folder.text)).ok()?;
        let (file, _) = SkillMd::read(&text, Some(name)).ok()?;
        Some(Self { file, folder })
    }
}

impl Aside {
    pub(crate) fn read(copy: &Path) -> Result<Self> {
        let mut folders = Vec::new();
        for area in AREAS {
            let path = copy.join(area);
            let failed = |source| unread(&path, source);
            let entries = match fs::read_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with('.') || entry.path().is_file() {
                    continue;
                }
                let content = Content::read(&entry.path(), &name);
                folders.push(Folder {
                    area,
                    name,
                    content,
                });
            }
        }
        folders
            .sort_unstable_by(|one, other| (one.area, &one.name).cmp(&(other.area, &other.name)));
        Ok(Self { folders })
    }

    /// Quarantines each skill that the rebuilt library offers although its folder lay in `held` or was gone: the commits
    /// that held it back may be lost. Where no folder lay in `skills`, only skills with a folder in `held` are quarantined.
    pub(crate) fn to_hold_back(&self, library: &SkillLibrary) -> Vec<LibraryChange> {
        let of = |is_offered: bool| {
            let folders = self.folders.iter();
            let folders = folders.filter(move |folder| (folder.area == OFFERED) == is_offered);
            folders
                .map(Folder::identity)
                .collect::<BTreeSet<Identity>>()
        };
        let (offered, held) = (of(true), of(false));
        let is_in = |all: &BTreeSet<Identity>, skill: &Skill| {
            all.contains(&Identity::Id(skill.id.clone()))
                || all.contains(&Identity::Name(skill.name.to_string()))
        };
        library
            .entries()
            .filter(|entry| entry.skill.state.is_offered())
            .filter(|entry| !is_in(&offered, &entry.skill))
            .filter(|entry| !offered.is_empty() || is_in(&held, &entry.skill))
            .map(|entry: &Entry| LibraryChange::SetState {
                skill: entry.skill.id.clone(),
                state: State::Quarantined,
                reason: REASON.to_owned(),
            })
            .collect()
    }

    /// The folders that cannot be read, or whose content differs from the library's folder at the same place. Folders that
    /// were taken in may have another place now, and are left out.
    pub(crate) fn not_in(&self, root: &Path, taken_in: &[String]) -> Vec<String> {
        let is_same = |folder: &&Folder| {
            let now = root.join(folder.area).join(&folder.name);
            folder.content.is_some() && Content::read(&now, &folder.name) == folder.content
        };
        let others = self.folders.iter().filter(|folder| !is_same(folder));
        let others = others.map(|folder| format!("{}/{}", folder.area, folder.name));
        others.filter(|place| !taken_in.contains(place)).collect()
    }
}

/// The skill that a folder belongs to, by its id, or by the folder's name where SKILL.md has no id.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Id(SkillId),
    Name(String),
}

impl Folder {
    fn identity(&self) -> Identity {
        let file = self.content.as_ref().map(|content| &content.file);
        let file = file.filter(|file| file.skill().is_ok());
        match file.and_then(SkillMd::id) {
            Some(id) => Identity::Id(id),
            None => Identity::Name(self.name.clone()),
        }
    }
}

/// The skill whose state a change sets.
pub(crate) fn of(change: &LibraryChange) -> Option<&SkillId> {
    match change {
        LibraryChange::SetState { skill, .. } => Some(skill),
        _ => None,
    }
}

fn unread(path: &Path, source: io::Error) -> Error {
    let message = "a folder of the copy cannot be read";
    Error::new(ErrorKind::Unavailable, "repair", message)
        .with("path", path.display())
        .hint("see that this user may read it")
        .source_from(source)
}
