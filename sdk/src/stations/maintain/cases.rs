//! Test cases from attempts, and the attempts that confirm a skill.

use crate::{
    contract::CaseDraft,
    domain::{BundleCase, CaseKind, LibraryChange, SkillRef, SkillUse, Trace},
    library::{Entry, SkillLibrary},
    policy::Context,
    stations::maintain::support::{Covered, use_of, use_of_any},
};

/// The change that adds a whole-attempt case to a known skill: the same skill was written again from an attempt that did not
/// follow it. `None` if the attempt may have followed it (an attempt of unknown use confirms nothing), if the attempt cannot confirm the skill or the bundle covers its task.
pub(crate) fn confirmed_by(
    context: &Context<'_>,
    skill: &SkillRef,
    attempt: &Trace,
) -> Option<LibraryChange> {
    context.standing.cases()?;
    let entry = context.library.get(&skill.id)?;
    let mut exposures = attempt.trajectory.exposures.iter();
    let use_of = |skill| use_of(context.library, &attempt.trajectory, skill);
    let may_follow = exposures
        .any(|seen| seen.skill.id == skill.id && use_of(&seen.skill) != SkillUse::NotFollowed);
    let confirms = !may_follow && can_confirm(context, entry, attempt);
    (confirms && Covered::of(entry, []).insert(&attempt.task.id)).then(|| {
        LibraryChange::PatchBundle {
            skill: skill.id.clone(),
            cases: vec![whole_attempt(
                context.library,
                attempt,
                CaseKind::Integration,
            )],
            dropped: Vec::new(),
        }
    })
}

/// Whether an attempt can confirm a skill that gathers evidence: it succeeded, at a task that the skill was not written from.
pub(crate) fn can_confirm(context: &Context<'_>, entry: &Entry, attempt: &Trace) -> bool {
    let own = entry.skill.provenance.tasks.contains(&attempt.task.id);
    context.gathers_evidence(entry) && attempt.is_success() && !own
}

/// The case of an attempt from a step on.
pub(crate) fn case(library: &SkillLibrary, attempt: &Trace, draft: &CaseDraft) -> BundleCase {
    let before = attempt.trajectory.steps.iter().take(draft.from);
    // A refused action changed nothing, so the fragment begins in the same state without it.
    let prefix = before.filter(|step| !step.result.is_error);
    let prefix: Vec<_> = prefix.map(|step| step.action.clone()).collect();
    let own = attempt.trajectory.steps.iter().skip(draft.from);
    let refused = own.filter(|step| step.result.is_error).count();
    BundleCase {
        name: format!(
            "{}/{:?}-{}",
            attempt.trajectory.attempt, draft.kind, draft.from
        )
        .to_lowercase(),
        kind: draft.kind,
        task: attempt.task.clone(),
        attempt: attempt.trajectory.attempt.clone(),
        world_seed: attempt.world_seed,
        prefix,
        refusals: allowed_refusals(library, attempt, refused),
        least_score: 0.0,
    }
}

/// The case of a whole attempt.
pub(crate) fn whole_attempt(library: &SkillLibrary, attempt: &Trace, kind: CaseKind) -> BundleCase {
    let draft = CaseDraft {
        kind,
        from: 0,
        about: String::new(),
    };
    case(library, attempt, &draft)
}

/// Greatest number of refusals with which a case passes: the attempt's own if it is known to have followed a skill, else one less:
/// a skill has to do better than an attempt that may have had no help.
fn allowed_refusals(library: &SkillLibrary, attempt: &Trace, refused: usize) -> u32 {
    let allowed = if use_of_any(library, &attempt.trajectory).is_followed() {
        refused
    } else {
        refused.saturating_sub(1)
    };
    u32::try_from(allowed).unwrap_or(u32::MAX)
}
