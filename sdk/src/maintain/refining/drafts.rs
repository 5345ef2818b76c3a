//! The drafts of a curator: updates of skills in use, which are tested as refined versions are (HiSME Eq. 13; row H6).

use std::collections::BTreeSet;

use super::{NextVersion, refused, trigger::trigger};
use crate::{
    admit::{
        drafted,
        held::{fingerprint, held_for},
    },
    domain::{BundleCase, CaseKind, LibraryChange, Skill, SkillRef, State},
    id::SkillId,
    library::Entry,
    maintain::{
        MaintenanceContext,
        bundling::whole_attempt,
        retries::{handled, misses},
    },
    report::EventKind,
};

/// The drafts that were not tested yet, as next versions of the skills that they update, and the changes that mark as handled
/// those that cannot become one any more. `versions` are the other next versions of this maintenance: a skill gets one at a
/// time, and none where one of the `changes` of this maintenance archives it.
pub(crate) fn drafts(
    context: &MaintenanceContext<'_>,
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
    let mut next = drafted::revision_of(known, draft.clone());
    next.state = State::Trial;
    next.name = known.name.clone();
    next.original_name.clone_from(&known.original_name);
    next
}

/// The case of the attempt that the draft was written from, if that is kept: an attempt that failed has to go well without a
/// refusal, as for a refined version.
fn case_of(context: &MaintenanceContext<'_>, draft: &Skill) -> Option<BundleCase> {
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
