//! Release and rollback by live attempts, for skills on trial, or tried in quarantine, whose test cases cannot be played.

use std::{collections::BTreeSet, num::NonZeroU32};

use crate::{
    domain::{BundleCase, CaseKind, LibraryChange, Origin, SkillUse, State},
    id::{TaskId, Version},
    library::{Entry, LiveEvidence},
    policy::Context,
    stations::maintain::quarantine,
};

/// Minimum number of tasks with a successful live attempt for a release, if skills have no test cases, whose number of tasks it is
/// ([`Release::cases`](crate::policy::Release::cases)). The paper requires two of refactored skills (HiSME, algorithm 3).
const TASKS: u32 = 2;

/// Minimum number of failed live attempts of a refined version before it is compared with the version before.
const FAILED: u32 = 2;

/// Minimum number of different tasks with evidence for the release of a skill in this state.
pub(crate) fn tasks_needed(context: &Context<'_>, state: State) -> u32 {
    let on_trial = context.standing.cases().map_or(TASKS, NonZeroU32::get);
    match (state, &context.standing.quarantine) {
        (State::Quarantined, Some(quarantine)) => quarantine.tasks.get().max(on_trial),
        _ => on_trial,
    }
}

/// Number of tasks whose attempts support a release; `None` if they do not suffice. An attempt supports a release if it
/// succeeded with the skill and without a refused action; whether an attempt of unknown use counts is the recipe's to say
/// ([`UsedWhen`](crate::stations::reward::UsedWhen)), and for a skill in quarantine only attempts that followed it count. More attempts with the skill must have succeeded than failed, and harmful judgements
/// may not outnumber helpful ones. A refined version may do no worse than the version before did.
///
/// Where nothing can be replayed, attempts without the skill that came to the same skill support it too (off-policy), beside at
/// least one with it; not one in quarantine, since the same untrusted text may have led them to it.
pub(crate) fn support(context: &Context<'_>, entry: &Entry) -> Option<u32> {
    let version = entry.skill.version;
    let live = live(context, entry);
    let counts = entry.life.counts(version);
    let mut tasks = entry
        .life
        .live_tasks(version, counts_as_used(context, entry));
    let off_policy = !context.replays && entry.skill.state != State::Quarantined;
    if off_policy && !tasks.is_empty() {
        tasks.extend(confirmed(entry));
    }
    let tasks = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    let suffices = tasks >= tasks_needed(context, entry.skill.state)
        && live.done > live.failed
        && counts.harmful <= counts.helpful
        && !is_worse(context, entry);
    suffices.then_some(tasks)
}

/// The results of the current version's live attempts.
fn live(context: &Context<'_>, entry: &Entry) -> LiveEvidence {
    live_of(context, entry, entry.skill.version)
}

fn live_of(context: &Context<'_>, entry: &Entry, version: Version) -> LiveEvidence {
    entry.life.live(version, counts_as_used(context, entry))
}

/// Whether an attempt counts for a skill, by how it used the skill. In quarantine the attempt must have followed it; elsewhere the recipe
/// says.
fn counts_as_used(context: &Context<'_>, entry: &Entry) -> impl Fn(SkillUse) -> bool {
    let (by_recipe, state) = (context.standing.skill_use, entry.skill.state);
    move |used: SkillUse| match state {
        State::Quarantined => used.is_followed(),
        _ => by_recipe.counts_injected(used),
    }
}

/// The tasks of successful attempts that did not have the skill and came to it, so that it was written again from them.
fn confirmed(entry: &Entry) -> impl Iterator<Item = &TaskId> {
    let own: BTreeSet<&TaskId> = entry.skill.provenance.tasks.iter().collect();
    let cases = entry.life.bundle.iter().map(|bundled| &bundled.case);
    let whole = cases.filter(|case| case.kind == CaseKind::Integration && case.is_whole());
    let tasks = whole.map(|case: &BundleCase| &case.task.id);
    tasks.filter(move |task| !own.contains(task))
}

/// Whether a refined version does worse in live attempts than the version before did: a smaller share of its attempts succeeded.
/// Their tasks differ, so that some attempts have to have failed before anything is said.
fn is_worse(context: &Context<'_>, entry: &Entry) -> bool {
    let refined = entry.skill.provenance.origin == Origin::Refined;
    let Some(before) = entry
        .version_before()
        .filter(|_| refined && !context.replays)
    else {
        return false;
    };
    let (now, then) = (
        live(context, entry),
        live_of(context, entry, before.version),
    );
    let count = |live: LiveEvidence| u64::from(live.done) + u64::from(live.failed);
    now.failed >= FAILED && u64::from(now.done) * count(then) < u64::from(then.done) * count(now)
}

/// The changes that take back refined versions which do worse in live attempts than the versions before did, where nothing can
/// be replayed to find that out. `changes` are those of this maintenance so far.
pub(crate) fn rolled_back(context: &Context<'_>, changes: &[LibraryChange]) -> Vec<LibraryChange> {
    let is_changed = |entry: &Entry| {
        changes.iter().any(|change| match change {
            LibraryChange::Revise(skill) => skill.id == entry.skill.id,
            LibraryChange::SetState { skill, .. } | LibraryChange::RollBack { skill, .. } => {
                *skill == entry.skill.id
            }
            LibraryChange::Release { skill, .. } => skill.id == entry.skill.id,
            _ => false,
        })
    };
    let on_trial = context.library.entries();
    let on_trial = on_trial.filter(|entry| entry.skill.state == State::Trial);
    let worse = on_trial.filter(|entry| is_worse(context, entry) && !is_changed(entry));
    let undone = worse.filter_map(|entry| {
        Some(LibraryChange::RollBack {
            skill: entry.skill.id.clone(),
            to: entry.version_before()?.version,
            reason: "fewer of its live attempts succeeded than of the version before".to_owned(),
        })
    });
    undone.collect()
}

/// The change that releases a skill for successful live attempts at so many tasks.
pub(crate) fn release(entry: &Entry, tasks: u32) -> LibraryChange {
    let evidence = format!("live attempts at {tasks} tasks went well with it");
    quarantine::release(entry, evidence)
}

/// The changes of states with a task's commit: trials in quarantine end for its `evidence`, and skills on trial, or tried in
/// quarantine, are released by live attempts, if no maintenance program releases them.
pub(crate) fn decided(context: &Context<'_>, evidence: &[LibraryChange]) -> Vec<LibraryChange> {
    // The end comes first, so that a release beside it has no effect.
    let mut changes = quarantine::ended(context, evidence);
    if context.standing.by_proof() {
        // From quarantine a skill comes on trial, where it has to prove itself.
        let tried = context
            .library
            .entries()
            .filter(|entry| context.tries(entry));
        let on_trial = tried.filter_map(|entry| {
            let tasks = support(context, entry)?;
            Some(LibraryChange::SetState {
                skill: entry.skill.id.clone(),
                state: State::Trial,
                reason: format!("live attempts at {tasks} tasks went well with it in quarantine"),
            })
        });
        changes.extend(on_trial);
    } else if context.standing.release.is_none() {
        let waiting = context.offered();
        let waiting = waiting.filter(|entry| entry.skill.state != State::Active);
        let released = waiting.filter_map(|entry| Some(release(entry, support(context, entry)?)));
        changes.extend(released);
    }
    changes
}

#[cfg(test)]
mod tests;
