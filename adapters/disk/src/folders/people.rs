//! Edits that people made in the folders, as versions of the library. A person's edit wins every conflict; the
//! library's version is then the one before.

use std::collections::BTreeMap;

use journeyman::{
    Error, Result, SkillId, Version,
    domain::{
        Cause, Commit, FilePath, FileRef, LibraryChange, Origin, Provenance, Revision, Skill,
        SkillName, State, sha256_hex,
    },
    library::{Entry, SkillLibrary, format::SkillMd},
};

use super::{
    area::{Area, place},
    rows::Rows,
};
use crate::SkillFolder;

/// A folder whose content or path is not the one that the library wrote.
#[derive(Debug)]
pub(super) struct Found {
    /// The area in which it was found.
    pub(super) area: Area,
    /// The skill's name by the folder's.
    pub(super) name: SkillName,
    /// The folder's name as the file system spells it: a name has several spellings in Unicode.
    pub(super) folder_name: String,
    pub(super) folder: SkillFolder,
    pub(super) hash: String,
    pub(super) stamp: String,
    /// The skill whose folder it is; `None` for a folder that the library did not write.
    pub(super) owner: Option<SkillId>,
    /// The area in which the library had put it, if any.
    pub(super) from: Option<Area>,
    /// Its present path, where it was replaced meanwhile.
    pub(super) aside: Option<String>,
}

impl Found {
    pub(super) fn place(&self) -> String {
        format!("{}/{}", self.area.folder(), self.folder_name)
    }

    /// Whether the folder has the content and the path that the library gives the skill.
    pub(super) fn agrees(&self, skill: &Skill) -> bool {
        agrees(&self.folder, &self.name, skill) && self.place() == place(skill)
    }
}

/// Whether a folder of this name has the content that the library gives the skill.
pub(crate) fn agrees(folder: &SkillFolder, name: &SkillName, skill: &Skill) -> bool {
    let text = std::str::from_utf8(&folder.text).unwrap_or_default();
    let file = SkillMd::read(text, Some(name.as_str()));
    file.is_ok_and(|(file, _)| file == SkillMd::from(skill))
        && folder.refs().is_ok_and(|files| files == skill.files)
}

/// The changes that a found folder asks for.
#[derive(Debug)]
pub(super) struct FolderChanges {
    pub(super) id: SkillId,
    /// In order; empty where the folder agrees with the library.
    pub(super) changes: Vec<LibraryChange>,
}

/// Derives the changes that a folder asks for.
///
/// # Errors
/// `Invalid` for a SKILL.md that cannot be read, or files over the limits.
pub(super) fn read(found: &Found, library: &SkillLibrary, rows: &Rows) -> Result<FolderChanges> {
    let text = std::str::from_utf8(&found.folder.text).map_err(|_| {
        Error::invalid("SkillMd::read", "the file is not UTF-8").hint("save SKILL.md as UTF-8 text")
    })?;
    let (file, _) = SkillMd::read(text, Some(found.name.as_str()))?;
    let files = found.folder.refs()?;
    // A folder that was committed before a crash and has no row yet is not committed again.
    let fresh = fresh_id(found, library, rows);
    let owner = found.owner.clone();
    let owner = owner.or_else(|| library.get(&fresh).map(|_| fresh.clone()));
    let entry = owner.as_ref().and_then(|id| library.get(id));
    let reading = match (&owner, entry) {
        (Some(id), Some(entry)) => FolderChanges {
            id: id.clone(),
            changes: edited(entry, &file, files, found)?,
        },
        (owner, _) => {
            // A deleted skill comes back with the next version number.
            let before = owner.as_ref().and_then(|id| {
                let mut deleted = library.deleted();
                deleted.find(|entry| entry.skill.id == *id)
            });
            let id = before.map(|entry| entry.skill.id.clone());
            let id = id.unwrap_or(fresh);
            let version = before.map_or(Version(1), |entry| entry.skill.version.next());
            let state = match found.area {
                Area::Offered => State::Active,
                Area::Held => State::Draft,
            };
            let skill = human_version(&file, files, &id, version, state)?;
            FolderChanges {
                id,
                changes: vec![LibraryChange::Add(Box::new(skill))],
            }
        }
    };
    for change in &reading.changes {
        change.validate()?;
    }
    Ok(reading)
}

/// A person's new version of an existing skill, and the state that its area implies.
fn edited(
    entry: &Entry,
    file: &SkillMd,
    files: BTreeMap<FilePath, FileRef>,
    found: &Found,
) -> Result<Vec<LibraryChange>> {
    let current = &entry.skill;
    let mut changes = Vec::new();
    if *file != SkillMd::from(current) || files != current.files {
        let version = current.version.next();
        let skill = human_version(file, files, &current.id, version, current.state)?;
        changes.push(LibraryChange::Revise(Box::new(
            skill
                .with_taint(current.taint)
                .with_parents(vec![current.reference()]),
        )));
    }
    // A folder that the library has not moved yet implies no state.
    let moved = found.from.is_some_and(|from| from != found.area);
    let state = match found.area {
        Area::Offered if moved && !current.state.is_offered() => Some(State::Active),
        Area::Held if moved && current.state.is_offered() => Some(State::Disabled),
        _ => None,
    };
    changes.extend(state.map(|state| LibraryChange::SetState {
        skill: current.id.clone(),
        state,
        reason: "a person moved its folder".to_owned(),
    }));
    Ok(changes)
}

fn human_version(
    file: &SkillMd,
    files: BTreeMap<FilePath, FileRef>,
    id: &SkillId,
    version: Version,
    state: State,
) -> Result<Skill> {
    Ok(file
        .skill()?
        .with_id(id)
        .with_version(version)
        .with_state(state)
        .with_files(files)
        .with_provenance(Provenance::new(Origin::Human)))
}

/// The id of a new folder's skill. The same folder gets the same id, until a skill of that id has a folder.
fn fresh_id(found: &Found, library: &SkillLibrary, rows: &Rows) -> SkillId {
    let taken = |id: &SkillId| {
        rows.contains_key(id) || library.deleted().any(|entry| entry.skill.id == *id)
    };
    let mut number = 0_u64;
    loop {
        let what = sha256_hex(format!("{number}/{}/{}", found.name, found.hash));
        let id = SkillId::new(format!("folder-{}", &what[..24]));
        if !taken(&id) {
            return id;
        }
        number += 1;
    }
}

/// The skill id in a SKILL.md, if it has one.
pub(super) fn named_id(folder: &SkillFolder, name: &SkillName) -> Option<SkillId> {
    let text = std::str::from_utf8(&folder.text).ok()?;
    let (file, _) = SkillMd::read(text, Some(name.as_str())).ok()?;
    file.skill().ok()?;
    file.id()
}

/// One commit of all changes by people.
pub(super) fn commit(base: Revision, changes: Vec<LibraryChange>, hashes: &str) -> Commit {
    Commit::new(
        base,
        format!("folders/{base}/{}", sha256_hex(hashes)).as_str(),
        Cause::new("a person changed the skills' folders"),
        changes,
    )
}
