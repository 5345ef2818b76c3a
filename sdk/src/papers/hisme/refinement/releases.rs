//! Which next versions are released, and what becomes of the others (HiSME Eq. 13; row H6).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    domain::{BundleCase, CaseKind, CaseOutcome, LibraryChange, Skill, SkillRef, State},
    id::SkillId,
    library::Entry,
    papers::hisme::{
        MicroPolicy,
        refinement::{NextVersion, gate::rejection, refused, trigger::trigger},
        support::last_outcomes,
    },
    policy::PlayedCase,
    run::report::EventKind,
    stations::{
        admit::{
            curated::{fingerprint, held_for, refused_draft},
            draft,
        },
        maintain::{
            MaintenanceContext,
            cases::whole_attempt,
            outcomes::outcomes,
            retries::{handled, missed, misses},
        },
    },
};

/// The changes that release the next versions that pass their gate; for the others an event has the reason. `before` are the
/// earlier changes of this maintenance, with the outcomes of the current versions.
pub(crate) fn released(
    context: &MaintenanceContext<'_, MicroPolicy>,
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
        changes.extend(draft.map(|draft| put_away(draft, &reference)));
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

// The drafts of a curator: updates of skills in use, which are tested as refined versions are (HiSME Eq. 13; row H6).

/// The drafts that were not tested yet, as next versions of the skills that they update, and the changes that mark as handled
/// those that cannot become one any more. `versions` are the other next versions of this maintenance: a skill gets one at a
/// time, and none where one of the `changes` of this maintenance archives it.
pub(crate) fn drafts(
    context: &MaintenanceContext<'_, MicroPolicy>,
    versions: &[NextVersion],
    changes: &[LibraryChange],
    events: &mut Vec<EventKind>,
) -> (Vec<NextVersion>, Vec<LibraryChange>) {
    let Some(policy) = &context.policy.bundles else {
        return (Vec::new(), Vec::new());
    };
    let archived = changes.iter().filter_map(LibraryChange::archives);
    let taken: BTreeSet<&SkillId> = (versions.iter().map(|one| &one.skill.id))
        .chain(archived)
        .collect();
    let waiting = context.library.entries().filter_map(|draft| {
        let known = held_for(context.library, draft)?;
        let is_due = !taken.contains(&known.skill.id)
            && !context.library.is_handled(&fingerprint(&draft.skill));
        is_due.then_some((draft, known))
    });
    let mut waiting: Vec<(&Entry, &Entry)> = waiting.collect();
    waiting.sort_by_key(|(draft, _)| misses(context.library, &fingerprint(&draft.skill)));

    let mut due = Vec::new();
    let mut marks = Vec::new();
    for (draft, known) in waiting {
        let evidence = fingerprint(&draft.skill);
        if draft.skill.parents.first() != Some(&known.skill.reference()) {
            let reason = "not released: the skill has changed since its update was written";
            events.push(refused(format!("{}: {reason}", known.skill.name)));
            marks.push(handled(&evidence));
            continue;
        }
        if due.len() < policy.most.get() as usize {
            due.push(NextVersion {
                skill: next_version(&draft.skill, &known.skill),
                triggers: case_of(context, &draft.skill).into_iter().collect(),
                evidence,
                draft: Some(draft.skill.id.clone()),
            });
        }
    }
    (due, marks)
}

/// The change that puts a draft away whose version was released.
pub(super) fn put_away(draft: SkillId, released: &SkillRef) -> LibraryChange {
    LibraryChange::SetState {
        skill: draft,
        state: State::Archived,
        reason: format!(
            "released as version {} of {}",
            released.version, released.id
        ),
    }
}

/// The draft as the skill's next version, under the skill's own name.
fn next_version(draft: &Skill, known: &Skill) -> Skill {
    let mut next = draft::revision_of(known, draft.clone());
    next.state = State::Trial;
    next.name = known.name.clone();
    next.original_name.clone_from(&known.original_name);
    next
}

/// The case of the attempt that the draft was written from, if that is kept: an attempt that failed has to go well without a
/// refusal, as for a refined version.
fn case_of(context: &MaintenanceContext<'_, MicroPolicy>, draft: &Skill) -> Option<BundleCase> {
    let tasks = &draft.provenance.tasks;
    let traces = context.library.traces();
    let latest = traces
        .filter(|trace| tasks.contains(&trace.task.id) && trace.verdict.is_some())
        .last()?;
    Some(match latest.is_success() {
        true => whole_attempt(context.library, latest, CaseKind::Integration),
        false => trigger(context.library, latest),
    })
}
