//! Which next versions are released, and what becomes of the others (HiSME Eq. 13; row H6).

use std::collections::BTreeMap;

use super::{NextVersion, drafts, gate::rejection, refused};
use crate::{
    admit::held::refused_draft,
    domain::{BundleCase, CaseOutcome, LibraryChange, Skill, SkillRef, State},
    maintain::{
        MaintenanceContext,
        outcomes::outcomes,
        retries::{handled, missed},
        support::last_outcomes,
    },
    policy::PlayedCase,
    report::EventKind,
};

/// The changes that release the next versions that pass their gate; for the others an event has the reason. `before` are the
/// earlier changes of this maintenance, with the outcomes of the current versions.
pub(crate) fn released(
    context: &MaintenanceContext<'_>,
    versions: Vec<NextVersion>,
    runs: &[PlayedCase],
    before: &[LibraryChange],
    events: &mut Vec<EventKind>,
) -> Vec<LibraryChange> {
    let mut outcomes = outcomes(runs);
    let mut changes = Vec::new();
    for version in versions {
        let NextVersion {
            mut skill,
            triggers,
            evidence,
            draft,
        } = version;
        let Some(entry) = context.library.get(&skill.id) else {
            continue;
        };
        let at = (outcomes.iter()).position(|ran| ran.skill == skill.reference());
        let ran = at.map(|at| outcomes.swap_remove(at));
        if ran.as_ref().is_some_and(|ran| ran.temporary) {
            let reason = "not released: a case of its bundle could not be played just now";
            events.push(refused(format!("{}: {reason}", entry.skill.name)));
            let what = format!("{}: testing the next version", entry.skill.name);
            changes.push(missed(context, &what, &evidence, events));
            continue;
        }
        changes.push(handled(&evidence));
        let tried = ran.map(|ran| ran.cases).unwrap_or_default();
        // Where nothing can be replayed, the next version begins a trial, and later attempts decide (`live`).
        let gate = context.played_bundles().map(|bundles| bundles.gate);
        let known = last_outcomes(entry, before);
        let known = known.map(|outcome| (outcome.name.clone(), outcome.clone()));
        let known: BTreeMap<_, _> = known.collect();
        if let Some(reason) = gate.and_then(|gate| rejection(gate, &known, &triggers, &tried)) {
            if draft.is_none()
                && context
                    .policy
                    .refine
                    .as_ref()
                    .is_some_and(|it| it.keep_drafts)
            {
                let refused = under_old_name(skill.clone(), &entry.skill);
                changes.extend(refused_draft(context.library, &refused, &reason));
            }
            events.push(refused(format!("{}: {reason}", entry.skill.name)));
            continue;
        }
        if skill.state == State::Trial && entry.skill.state == State::Active && !tried.is_empty() {
            skill.state = State::Active;
        }
        events.push(EventKind::Admitted {
            skill: Box::new(skill.clone()),
            revised: true,
        });
        let reference = skill.reference();
        changes.push(LibraryChange::Revise(Box::new(skill)));
        changes.extend(draft.map(|draft| drafts::put_away(draft, &reference)));
        if !tried.is_empty() {
            changes.extend(bundle_of_release(reference, triggers, &tried));
        }
    }
    changes
}

/// A version that is not released, under the name of the one before: a new name stays free until a version has it in use. What the
/// refiner called it stays as its original name.
fn under_old_name(mut next: Skill, before: &Skill) -> Skill {
    if next.name != before.name {
        let name = std::mem::replace(&mut next.name, before.name.clone());
        next.original_name.get_or_insert(name.into());
    }
    next
}

/// The changes of a released version's bundle: the cases that triggered it are added, and the cases that it fails are dropped.
fn bundle_of_release(
    skill: SkillRef,
    mut triggers: Vec<BundleCase>,
    tried: &[(BundleCase, CaseOutcome)],
) -> [LibraryChange; 2] {
    let fails = |(_, outcome): &&(BundleCase, CaseOutcome)| outcome.has_failed();
    let failed = tried.iter().filter(fails);
    let failed: Vec<String> = failed.map(|(case, _)| case.name.clone()).collect();
    triggers.retain(|case| !failed.contains(&case.name));
    let kept = tried.iter().filter(|one| !fails(one));
    let outcomes = kept.map(|(_, outcome)| outcome.clone()).collect();
    [
        LibraryChange::PatchBundle {
            skill: skill.id.clone(),
            cases: triggers,
            dropped: failed,
        },
        LibraryChange::Test { skill, outcomes },
    ]
}
