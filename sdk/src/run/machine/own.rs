//! Runs a host's own maintenance programs and admission rule, and checks the changes that they make.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::scene::Scene;
use crate::{
    admit::admission::Admission,
    domain::{Committed, FileRef, LibraryChange, Skill, SkillRef},
    error::{Error, ErrorKind, Result},
    format::SkillMd,
    id::SkillId,
    library::SkillLibrary,
    policy::{Ask, Policies, View},
    recipe::{Recipe, programs::Decided},
    report::EventKind,
};

/// Checks that a host's own maintenance program may make a change, and that a store accepts it.
///
/// # Errors
/// `Invalid`, with the violated rule.
pub(crate) fn permitted(change: &LibraryChange, library: &SkillLibrary) -> Result<()> {
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
            "a maintenance program may add, revise, merge, restore, roll back and release skills, set their states, extend \
             their bundles, and set rules of roles; it may not record evidence or erase anything",
        );
    }
    let Some(skill) = change.skill() else {
        return Ok(());
    };
    // A skill that cannot be written as SKILL.md could not be written to a folder or an export either.
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

/// Runs the host's own maintenance program at index `place` of the recipe, and checks its changes.
pub(super) async fn run_program(
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

/// Applies the host's own admission rule, if the recipe names one, to a skill.
///
/// # Errors
/// The reason of the refusal; `Panicked` if the rule or its construction panics.
pub(super) fn check_admission(scene: &Scene<'_>, skill: &Skill) -> Result<()> {
    let Some(own) = &scene.recipe.admit.own else {
        return Ok(());
    };
    let ask = || scene.policies.admission(own)?.admit(scene.library, skill);
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| {
        let message = "the recipe's own admission rule panicked";
        Err(Error::new(ErrorKind::Panicked, "AdmitRule::admit", message))
    })
}

/// Refuses a draft that the host's own admission rule does not admit.
pub(super) fn refuse(scene: &Scene<'_>, admission: &mut Admission) {
    let entering = match &admission.change {
        Some(LibraryChange::Add(skill) | LibraryChange::Revise(skill)) => skill,
        _ => return,
    };
    if let Err(error) = check_admission(scene, entering) {
        let title = admission.report.title.take();
        *admission = Admission::refused(title, admission.report.fallback, error.to_string());
    }
}

/// Whether a change makes sense only if the refused skill version enters the library.
fn depends_on(change: &LibraryChange, refused: &SkillRef) -> bool {
    match change {
        LibraryChange::PatchBundle { skill, .. } => *skill == refused.id,
        LibraryChange::Test { skill, .. } | LibraryChange::Release { skill, .. } => {
            *skill == *refused
        }
        _ => false,
    }
}

/// Removes from the changes of maintenance what they decide about skills about which the host, or a person, has decided in these
/// commits, with the tests that belong to it.
pub(crate) fn remove_decided_by_host(
    scene: &Scene<'_>,
    committed: &[Committed],
    decided: &mut Decided,
    events: &mut Vec<EventKind>,
) {
    let by_host: BTreeSet<&SkillId> = committed
        .iter()
        .flat_map(Committed::decided_by_host)
        .collect();
    let mut removed: BTreeSet<SkillId> = BTreeSet::new();
    decided.changes.retain(|change| {
        let skill = match change {
            LibraryChange::Merge { sources, .. } => {
                sources.iter().find(|source| by_host.contains(source))
            }
            change => change
                .decides_about()
                .filter(|skill| by_host.contains(skill)),
        };
        if let Some(skill) = skill {
            let name = scene
                .library
                .get(skill)
                .map(|entry| entry.skill.name.to_string());
            let name = name.unwrap_or_else(|| skill.to_string());
            let reason = format!("{name}: the host, or a person, has decided about it meanwhile");
            events.push(EventKind::Refused { reason });
            removed.insert(skill.clone());
            removed.extend(change.skill().map(|made| made.id.clone()));
        }
        skill.is_none()
    });
    decided.changes.retain(|change| match change {
        LibraryChange::PatchBundle { skill, .. } => !removed.contains(skill),
        LibraryChange::Test { skill, .. } => !removed.contains(&skill.id),
        _ => true,
    });
    remove_what_does_not_enter(decided);
}

/// Removes from the changes of maintenance the skills that the host's own admission rule does not admit, with the changes
/// that depend on them.
pub(crate) fn remove_refused(
    scene: &Scene<'_>,
    decided: &mut Decided,
    events: &mut Vec<EventKind>,
) {
    let mut refused: Vec<SkillRef> = Vec::new();
    decided.changes.retain(|change| {
        let entering = change.skill();
        if let Some(skill) = entering
            && let Err(error) = check_admission(scene, skill)
        {
            let reason = format!("{}: {error}", skill.name);
            events.push(EventKind::Refused { reason });
            refused.push(skill.reference());
            return false;
        }
        // The changes after a later, admitted version of the skill belong to that version.
        if let Some(skill) = entering {
            refused.retain(|one| one.id != skill.id);
        }
        !refused.iter().any(|one| depends_on(change, one))
    });
    remove_what_does_not_enter(decided);
}

/// Removes the events of skills that no change brings.
fn remove_what_does_not_enter(decided: &mut Decided) {
    let is_refused = |event: &EventKind| match event {
        EventKind::Admitted { skill, .. } => !decided
            .changes
            .iter()
            .filter_map(LibraryChange::skill)
            .any(|one| one.reference() == skill.reference()),
        _ => false,
    };
    decided.admitted.retain(|event| !is_refused(event));
}
