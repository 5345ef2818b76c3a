//! The host's own admission rules, and what becomes of decisions that they, or another writer, overrule.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    domain::{Committed, LibraryChange, Skill, SkillRef},
    error::{Error, ErrorKind, Result},
    id::SkillId,
    run::{machine::effect::RunContext, report::EventKind},
    stations::admit::admission::Admission,
};

/// Applies the admission rules that the recipe names to a skill, in their order.
///
/// # Errors
/// The reason of the first refusal; `Panicked` if a rule panics.
pub(super) fn check_admission(run_context: &RunContext<'_>, skill: &Skill) -> Result<()> {
    let mut rules = run_context.policies.admission.iter();
    let ask = || rules.try_for_each(|rule| rule.admit(run_context.library, skill));
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| {
        let message = "the recipe's admission rule panicked";
        Err(Error::new(ErrorKind::Panicked, "AdmitRule::admit", message))
    })
}

/// Refuses a draft that a rule does not admit.
pub(super) fn refuse(run_context: &RunContext<'_>, admission: &mut Admission) {
    let entering = match &admission.change {
        Some(LibraryChange::Add(skill) | LibraryChange::Revise(skill)) => skill,
        _ => return,
    };
    if let Err(error) = check_admission(run_context, entering) {
        let title = admission.report.title.take();
        *admission = Admission::refused(title, admission.report.fallback, error.to_string());
    }
}

/// Whether a change makes sense only if the refused skill version enters the library.
pub(super) fn depends_on(change: &LibraryChange, refused: &SkillRef) -> bool {
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
    run_context: &RunContext<'_>,
    committed: &[Committed],
    changes: &mut Vec<LibraryChange>,
    events: &mut Vec<EventKind>,
) {
    let by_host: BTreeSet<&SkillId> = committed
        .iter()
        .flat_map(Committed::decided_by_host)
        .collect();
    let mut removed: BTreeSet<SkillId> = BTreeSet::new();
    changes.retain(|change| {
        let skill = match change {
            LibraryChange::Merge { sources, .. } => {
                sources.iter().find(|source| by_host.contains(source))
            }
            change => change
                .decides_about()
                .filter(|skill| by_host.contains(skill)),
        };
        if let Some(skill) = skill {
            let name = run_context
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
    changes.retain(|change| match change {
        LibraryChange::PatchBundle { skill, .. } => !removed.contains(skill),
        LibraryChange::Test { skill, .. } => !removed.contains(&skill.id),
        _ => true,
    });
}

/// Removes from the changes of maintenance the skills that a rule does not admit, with the changes that depend on them.
pub(crate) fn remove_refused(
    run_context: &RunContext<'_>,
    changes: &mut Vec<LibraryChange>,
    events: &mut Vec<EventKind>,
) {
    let mut refused: Vec<SkillRef> = Vec::new();
    changes.retain(|change| {
        let entering = change.skill();
        if let Some(skill) = entering
            && let Err(error) = check_admission(run_context, skill)
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
}
