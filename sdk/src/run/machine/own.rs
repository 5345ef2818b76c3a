//! A maintenance program of a host's own, and the changes that it may make.

use crate::{
    domain::{FileRef, LibraryChange},
    error::{Error, Result},
    format::SkillMd,
    library::SkillLibrary,
    policy::{Ask, Policies, View},
    recipe::{Recipe, programs::Decided},
    report::EventKind,
};

/// Checks that a program of the host's own may make a change, and that a store takes it.
///
/// # Errors
/// `Invalid`, with the rule.
fn permitted(change: &LibraryChange, library: &SkillLibrary) -> Result<()> {
    change.validate()?;
    let refused = |message: &str| Err(Error::invalid("MaintenanceProgram::maintain", message));
    let allowed = matches!(
        change,
        LibraryChange::Add(_)
            | LibraryChange::Revise(_)
            | LibraryChange::Merge { .. }
            | LibraryChange::RollBack { .. }
            | LibraryChange::Restore { .. }
            | LibraryChange::SetState { .. }
            | LibraryChange::Release { .. }
            | LibraryChange::PatchBundle { .. }
            | LibraryChange::SetRules { .. }
    );
    if !allowed {
        return refused(
            "a program adds, revises, merges, restores and releases skills, rolls them back, sets their states, adds to their \
             bundles, and sets rules; it records no evidence and erases nothing",
        );
    }
    let Some(skill) = change.skill() else {
        return Ok(());
    };
    // What no SKILL.md can hold, no folder and no export could hold either.
    SkillMd::from(skill).write()?;
    let known = |file: &FileRef| {
        let mut entries = library.entries();
        entries.any(|entry| {
            entry
                .skill
                .files
                .values()
                .any(|one| one.sha256 == file.sha256)
        })
    };
    match skill.files.values().all(known) {
        true => Ok(()),
        false => refused("the skill names a file that no skill of the library has"),
    }
}

/// Runs a program of the host's own, and checks its changes.
pub(super) async fn own(
    mut ask: Ask,
    view: View,
    (recipe, policies): (Recipe, Policies),
    place: u32,
) -> Result<Decided> {
    let Some(scheduled) = recipe.programs.get(place as usize) else {
        return Ok(Decided::default());
    };
    let program = policies.program(&scheduled.program)?;
    let changes = program.maintain(&mut ask, &view).await?;
    for change in &changes {
        permitted(change, view.library())?;
    }
    let admitted = changes.iter().filter_map(|change| match change {
        LibraryChange::Add(skill) => Some((skill, false)),
        LibraryChange::Revise(skill) => Some((skill, true)),
        _ => None,
    });
    let admitted = admitted.map(|(skill, revised)| EventKind::Admitted {
        skill: skill.clone(),
        revised,
    });
    Ok(Decided {
        admitted: admitted.collect(),
        changes,
    })
}
