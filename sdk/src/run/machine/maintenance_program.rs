//! Starts the maintenance programs that a recipe schedules, and checks the changes that they make.

use std::sync::Arc;

use super::run_context::RunContext;
use crate::{
    domain::{FileRef, LibraryChange, MaintenanceBudget, Skill},
    error::{Error, ErrorKind, Result},
    format::SkillMd,
    library::SkillLibrary,
    policy::{Ask, MaintenanceProgram},
    program::Running,
    report::EventKind,
};

/// Checks that a maintenance program may make a change, and that a store accepts it. `records`: the program says that it records
/// what it found out.
///
/// # Errors
/// `Invalid`, with the violated rule.
pub(crate) fn permitted(
    change: &LibraryChange,
    records: bool,
    library: &SkillLibrary,
) -> Result<()> {
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
    let recorded = is_record(change);
    if recorded && !records {
        return refused(
            "a maintenance program records results of tests, gains, prototypes and what is dealt with only where \
             `MaintenanceProgram::records` says so",
        );
    }
    if !allowed && !recorded {
        return refused(
            "a maintenance program may add, revise, merge, restore, roll back and release skills, set their states, extend \
             their bundles, set rules of roles, and record what it found out; it may not record evidence or erase anything",
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

/// Whether a change records what a program found out, and decides nothing.
pub(super) fn is_record(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::Test { .. }
            | LibraryChange::Gain { .. }
            | LibraryChange::Handled { .. }
            | LibraryChange::SetPrototypes(_)
            | LibraryChange::SetAnchors(_)
            | LibraryChange::CheckAnchors(_)
    )
}

/// Starts the program at a place in the recipe's list on the present library, and checks its changes. `left`: what is left of the
/// round's budget.
pub(super) fn start(
    ask: Ask,
    run_context: &RunContext<'_>,
    place: u32,
    (step, left): (u64, MaintenanceBudget),
) -> Running<Result<Vec<LibraryChange>>> {
    let view = run_context.within(left).view(step);
    let program = program(run_context, place).cloned();
    let mut ask = ask;
    Box::pin(async move {
        let program = program.ok_or_else(|| {
            let message = "the recipe has no such maintenance program";
            Error::new(ErrorKind::Internal, "RunMachine", message).with("place", place)
        })?;
        let changes = program.maintain(&mut ask, &view).await?;
        for change in &changes {
            permitted(change, program.records(), view.library())?;
        }
        Ok(changes)
    })
}

/// The program at a place in the recipe's list.
fn program<'a>(
    run_context: &RunContext<'a>,
    place: u32,
) -> Option<&'a Arc<dyn MaintenanceProgram>> {
    let place = usize::try_from(place).ok()?;
    let scheduled = run_context.policies.programs.get(place);
    scheduled.map(|(_, program)| program)
}

/// Why a program's changes are committed, for the library's history.
pub(super) fn reason(run_context: &RunContext<'_>, place: u32) -> String {
    let reason = program(run_context, place).map(|program| program.reason());
    reason.unwrap_or_default().to_owned()
}

/// The events of the skills that changes bring. A version that was refused and is kept as a draft is none.
pub(super) fn admitted(changes: &[LibraryChange]) -> Vec<EventKind> {
    let is_refused = |skill: &Skill| skill.metadata.contains_key(SkillMd::REFUSED);
    let admitted = changes.iter().filter_map(|change| match change {
        LibraryChange::Add(skill) if !is_refused(skill) => Some((skill, false)),
        LibraryChange::Revise(skill) if !is_refused(skill) => Some((skill, true)),
        _ => None,
    });
    let admitted = admitted.map(|(skill, revised)| EventKind::Admitted {
        skill: skill.clone(),
        revised,
    });
    admitted.collect()
}

/// Whether changes are measurements alone: these move no skill between tiers.
pub(super) fn only_measures(changes: &[LibraryChange]) -> bool {
    changes.iter().all(|change| {
        matches!(
            change,
            LibraryChange::Gain { .. }
                | LibraryChange::SetPrototypes(_)
                | LibraryChange::SetAnchors(_)
                | LibraryChange::CheckAnchors(_)
        )
    })
}
