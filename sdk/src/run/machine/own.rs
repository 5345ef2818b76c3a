//! A host's own maintenance programs and admission rule, and the changes that they may make.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::scene::Scene;
use crate::{
    admit::admission::Admission,
    domain::{FileRef, LibraryChange, Skill},
    error::{Error, ErrorKind, Result},
    format::SkillMd,
    id::SkillId,
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

/// Asks the recipe's own admission rule about a skill.
///
/// # Errors
/// Why it is refused; a panic of the rule refuses it too.
fn let_in(scene: &Scene<'_>, skill: &Skill) -> Result<()> {
    let Some(own) = &scene.recipe.admit.own else {
        return Ok(());
    };
    let rule = scene.policies.admission(own)?;
    let asked = catch_unwind(AssertUnwindSafe(|| rule.admit(scene.library, skill)));
    asked.unwrap_or_else(|_| {
        let message = "the recipe's own admission rule panicked";
        Err(Error::new(ErrorKind::Panicked, "AdmitRule::admit", message))
    })
}

/// Refuses a draft that the recipe's own admission rule does not let in.
pub(super) fn refuse(scene: &Scene<'_>, admission: &mut Admission) {
    let entering = match &admission.change {
        Some(LibraryChange::Add(skill) | LibraryChange::Revise(skill)) => skill,
        _ => return,
    };
    if let Err(error) = let_in(scene, entering) {
        let title = admission.report.title.take();
        *admission = Admission::refused(title, admission.report.fallback, error.to_string());
    }
}

/// The skill that a change of maintenance is about.
fn target(change: &LibraryChange) -> Option<&SkillId> {
    match change {
        LibraryChange::Add(skill) | LibraryChange::Revise(skill) => Some(&skill.id),
        LibraryChange::PatchBundle { skill, .. } | LibraryChange::SetState { skill, .. } => {
            Some(skill)
        }
        LibraryChange::Test { skill, .. } | LibraryChange::Release { skill, .. } => Some(&skill.id),
        _ => None,
    }
}

/// Takes out of the changes of maintenance the skills that the recipe's own admission rule does not let in, with what follows
/// for them.
pub(super) fn refuse_all(scene: &Scene<'_>, decided: &mut Decided, events: &mut Vec<EventKind>) {
    let mut refused: BTreeSet<SkillId> = BTreeSet::new();
    decided.changes.retain(|change| {
        if let LibraryChange::Add(skill) | LibraryChange::Revise(skill) = change
            && let Err(error) = let_in(scene, skill)
        {
            let reason = format!("{}: {error}", skill.name);
            events.push(EventKind::Refused { reason });
            refused.insert(skill.id.clone());
        }
        !target(change).is_some_and(|id| refused.contains(id))
    });
    let admitted = |event: &EventKind| match event {
        EventKind::Admitted { skill, .. } => !refused.contains(&skill.id),
        _ => true,
    };
    decided.admitted.retain(admitted);
}
