//! The skills' folders: whether they are as the library has it, and whether each was whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use futures::executor::block_on;
use journeyman::{
    Result,
    contract::{SkillFiles, SkillStore},
    domain::Skill,
    library::{Entry, SkillLibrary, format::SkillMd},
};
use journeyman_disk::{DiskStore, SkillFolder};

use crate::{check::Found, report::Report};

/// Folders by their places; `None` for one that cannot be read.
pub(crate) type Lying = BTreeMap<String, Option<SkillFolder>>;

/// What lies in the folders now.
pub(crate) fn lying(root: &Path) -> Lying {
    let mut lying = Lying::new();
    for area in ["skills", "held"] {
        for entry in fs::read_dir(root.join(area))
            .into_iter()
            .flatten()
            .flatten()
        {
            let place = format!("{area}/{}", entry.file_name().to_string_lossy());
            lying.insert(place, SkillFolder::read(&entry.path()).ok());
        }
    }
    lying
}

/// The library that a store's commits add up to.
///
/// # Errors
/// Those of loading.
pub(crate) fn library(store: &DiskStore) -> Result<SkillLibrary> {
    SkillLibrary::replay(&block_on(store.load())?.committed)
}

/// What a skill's folder should hold.
///
/// # Errors
/// Those of the store.
pub(crate) fn content(store: &DiskStore, skill: &Skill) -> Result<SkillFolder> {
    let mut files = BTreeMap::new();
    for (path, file) in &skill.files {
        let bytes = block_on(store.get(&file.sha256))?;
        files.insert(path.clone(), bytes.unwrap_or_default());
    }
    Ok(SkillFolder::new(
        SkillMd::from(skill).write()?.into_bytes(),
        files,
    ))
}

/// Where a skill's folder belongs.
pub(crate) fn place(skill: &Skill) -> String {
    let area = if skill.state.is_offered() {
        "skills"
    } else {
        "held"
    };
    format!("{area}/{}", skill.name)
}

/// The folders that are not as the library has it: others, missing, or too many.
///
/// # Errors
/// Those of the store.
pub(crate) fn differing(store: &DiskStore) -> Result<BTreeSet<String>> {
    let mut due = Lying::new();
    for entry in library(store)?.entries() {
        due.insert(place(&entry.skill), Some(content(store, &entry.skill)?));
    }
    let lying = lying(store.root());
    let places = due.keys().chain(lying.keys());
    let differs = places.filter(|place| due.get(*place) != lying.get(*place));
    Ok(differs.cloned().collect())
}

/// Those of the folders that lay there that hold no version of any skill.
///
/// # Errors
/// Those of the store.
pub(crate) fn in_part(store: &DiskStore, lay: &Lying) -> Result<BTreeSet<String>> {
    let library = library(store)?;
    let mut whole = Vec::new();
    let entries = library.entries().chain(library.deleted());
    for skill in entries.flat_map(Entry::versions) {
        whole.push(content(store, skill)?);
    }
    let in_part = lay.iter().filter(|(_, folder)| {
        let folder = folder.as_ref();
        !folder.is_some_and(|folder| whole.contains(folder))
    });
    Ok(in_part.map(|(place, _)| place.clone()).collect())
}

/// Both as figures; what is wrong is said.
///
/// # Errors
/// Those of the store.
pub(crate) fn found(report: &Report, store: &DiskStore, lay: &Lying) -> Result<Found> {
    let (differing, in_part) = (differing(store)?, in_part(store, lay)?);
    for place in differing.iter() {
        report.progress(format_args!("{place} is not as the library has it"));
    }
    for place in in_part.iter() {
        report.progress(format_args!("{place} held no version of a skill"));
    }
    Ok(Found {
        folders: differing.len() as u64,
        parts: in_part.len() as u64,
        ..Found::default()
    })
}
