//! The skills that an arm's library starts with.

use std::{collections::BTreeMap, path::Path};

use journeyman::{
    Error, Result, SkillId,
    domain::{Origin, Provenance, Skill, SkillDraft, Taint},
    library::format::{SkillMd, seed_skills},
    stations::admit::{Admittance, to_skill},
};
use journeyman_disk::LibraryReader;

use super::{arm::Start, form::EXPERIMENT};
use crate::{
    library::is_library,
    validate::{folder, skills_at},
};

/// The skills of a start, all of them offered: an experiment names them to measure them.
pub(super) fn skills(start: &Start) -> Result<Vec<Skill>> {
    match start {
        Start::Empty => Ok(Vec::new()),
        Start::Seeds => {
            let drafts = seed_skills();
            let drafts = drafts.iter().map(SkillDraft::from);
            drafts.map(|draft| begun(&draft, &draft.title)).collect()
        }
        Start::Folder(path) if is_library(path) => of_library(path),
        Start::Folder(path) => of_folders(path),
    }
    .map_err(|error| match (start, error.fact("path")) {
        (Start::Folder(path), None) => error.with("path", path.display()),
        _ => error,
    })
}

/// The skills that a library offers, without their evidence, which is from another world.
fn of_library(path: &Path) -> Result<Vec<Skill>> {
    let reader = LibraryReader::open(path)?;
    let entries = reader.library().entries();
    let offered = entries.filter(|entry| entry.skill.state.is_offered());
    let skills: Vec<Skill> = offered
        .map(|entry| {
            entry
                .skill
                .clone()
                .with_version(1)
                // Agents are not shown a skill's files.
                .with_files(BTreeMap::new())
                .with_parents(Vec::new())
                .with_provenance(provenance())
                .with_taint(Taint::Clean)
        })
        .collect();
    refuse_nothing(skills)
}

fn of_folders(path: &Path) -> Result<Vec<Skill>> {
    let mut skills = Vec::new();
    for place in skills_at(EXPERIMENT, path)? {
        let of = |error: Error| error.with("skill", place.display());
        let (folder, name) = folder(EXPERIMENT, &place, place == path).map_err(of)?;
        let text = String::from_utf8(folder.text).map_err(|_| {
            let refused = Error::invalid(EXPERIMENT, "SKILL.md is not UTF-8");
            of(refused.hint("save it as UTF-8 text"))
        })?;
        let (file, _) = SkillMd::read(&text, Some(&name)).map_err(of)?;
        let draft = SkillDraft::from(&file.skill().map_err(of)?);
        skills.push(begun(&draft, &name).map_err(of)?);
    }
    refuse_nothing(skills)
}

fn refuse_nothing(skills: Vec<Skill>) -> Result<Vec<Skill>> {
    if skills.is_empty() {
        return Err(
            Error::invalid(EXPERIMENT, "no skill is offered there").hint(
                "name a folder of skills or of a library that offers some, or leave `library` out",
            ),
        );
    }
    Ok(skills)
}

fn begun(draft: &SkillDraft, id: &str) -> Result<Skill> {
    let admittance = Admittance::new(SkillId::new(id), provenance());
    to_skill(draft, admittance)
}

fn provenance() -> Provenance {
    Provenance::new(Origin::Seed)
}
