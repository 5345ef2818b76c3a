//! Bundles: makes test cases from attempts, and decides from their outcomes which skills on trial are released (HiSME 3.3,
//! algorithm 4; rows H5, H6).

use std::collections::BTreeMap;

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{
        Attribution, BundleCase, CaseKind, CaseOutcome, Judgement, LibraryChange, SkillRef, State,
        Trace,
    },
    error::Result,
    id::{AttemptId, SkillId},
    library::{Entry, SkillLibrary},
    papers::hisme::{
        MicroPolicy,
        support::{blocks_release, last_outcomes, support_in_maintenance},
    },
    policy::{Case, Context, Played, PlayedCase, RoleReply},
    run::report::EventKind,
    stations::maintain::{
        MaintenanceContext,
        cases::{case, whole_attempt},
        live,
        outcomes::outcomes,
        quarantine,
        retries::{missed, misses},
        support::Covered,
    },
};

/// Number of the latest attempts harmed by a skill that add cases to its bundle.
const MOST_HARMED: usize = 4;

/// New cases that are not committed yet, by skill.
pub(crate) type Patches = BTreeMap<SkillId, Vec<BundleCase>>;

/// Role tasks that make test cases for skills that gather evidence, from attempts at their tasks that have no case yet. None
/// where nothing can be replayed.
pub(crate) fn bundle_tasks(context: &MaintenanceContext<'_, MicroPolicy>) -> Vec<RoleTask> {
    let Some(policy) = context.played_bundles() else {
        return Vec::new();
    };
    let entries = context.library.entries();
    let entries = entries.filter(|entry| context.gathers_evidence(entry));
    let asks = entries.filter_map(|entry| {
        let attempt = source(context, entry)?;
        Some(RoleTask::Bundle {
            skill: Box::new(entry.skill.clone()),
            attempt: Box::new(attempt.clone()),
        })
    });
    asks.take(policy.most.get() as usize).collect()
}

/// The latest kept successful attempt at a task that the skill was written from and that its bundle has no case of.
fn source<'a>(context: &Context<'a>, entry: &Entry) -> Option<&'a Trace> {
    let tasks = &entry.skill.provenance.tasks;
    if tasks.is_empty() {
        return None;
    }
    let of_it = |trace: &&Trace| {
        let mut bundle = entry.life.bundle.iter();
        let known = bundle.any(|bundled| bundled.case.task.id == trace.task.id);
        trace.is_success() && tasks.contains(&trace.task.id) && !known
    };
    context.library.traces().filter(of_it).last()
}

/// The new cases: those of the roles' answers, and those of judgements.
pub(crate) fn patches(
    context: &MaintenanceContext<'_, MicroPolicy>,
    replies: &[RoleReply],
) -> Patches {
    let mut patches = Patches::new();
    if context.played_bundles().is_none() {
        return patches;
    }
    for RoleReply { task, reply } in replies {
        let RoleTask::Bundle { skill, attempt } = task else {
            continue;
        };
        let cases = cases(context.library, attempt, reply);
        if !cases.is_empty() {
            patches.entry(skill.id.clone()).or_default().extend(cases);
        }
    }
    for entry in context.library.entries() {
        if context.gathers_evidence(entry) {
            let new = patches.get(&entry.skill.id).map_or(&[][..], Vec::as_slice);
            let of_judgements = cases_of_judgements(context.library, entry, new);
            if !of_judgements.is_empty() {
                let cases = patches.entry(entry.skill.id.clone()).or_default();
                cases.extend(of_judgements);
            }
        }
    }
    patches
}

/// The cases that a role made from an attempt; the whole attempt if the role's answer has none.
fn cases(
    library: &SkillLibrary,
    attempt: &Trace,
    reply: &Result<Option<Played>>,
) -> Vec<BundleCase> {
    let drafts = match reply {
        Ok(Some(Played {
            answer: RoleAnswer::Cases(drafts),
            ..
        })) => drafts.as_slice(),
        _ => &[],
    };
    let drafts = drafts.iter();
    let mut cases: Vec<BundleCase> = drafts.map(|draft| case(library, attempt, draft)).collect();
    if cases.is_empty() {
        cases.push(whole_attempt(library, attempt, CaseKind::Integration));
    }
    cases
}

/// The cases that judgements of the current version add (algorithm 4): an attempt that the skill helped must go as well again,
/// one that it harmed must go better. `new` are the skill's other new cases.
fn cases_of_judgements(
    library: &SkillLibrary,
    entry: &Entry,
    new: &[BundleCase],
) -> Vec<BundleCase> {
    let known = |attempt: &AttemptId| {
        let mut bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
        bundle.any(|case| case.attempt == *attempt)
    };
    let mut tasks = Covered::of(entry, new);
    let of_version = |one: &&Attribution| one.skill == entry.skill.reference();
    let judged = entry.life.judged_in_trial().filter(of_version);
    let mut judged: Vec<(Judgement, &Trace)> = judged
        .filter_map(|one| {
            let mut traces = library.traces();
            let trace = traces
                .find(|trace| trace.trajectory.attempt == one.attempt && trace.is_success())?;
            Some((one.judgement, trace))
        })
        .collect();
    // A full bundle drops its oldest cases, and each maintenance would add them again.
    let is_harmful = |(judgement, _): &&(Judgement, &Trace)| *judgement == Judgement::Harmful;
    let mut excess = (judged.iter().filter(is_harmful).count()).saturating_sub(MOST_HARMED);
    judged.retain(|one| {
        let is_excess = excess > 0 && is_harmful(&one);
        excess -= usize::from(is_excess);
        !is_excess
    });
    let cases = judged.into_iter().filter_map(|(judgement, trace)| {
        if known(&trace.trajectory.attempt) {
            return None;
        }
        match judgement {
            Judgement::Helpful => {
                let new = tasks.insert(&trace.task.id);
                new.then(|| whole_attempt(library, trace, CaseKind::Integration))
            }
            Judgement::Harmful => {
                let mut case = whole_attempt(library, trace, CaseKind::Negative);
                case.refusals = case.refusals.saturating_sub(1);
                Some(case)
            }
            Judgement::Neutral | Judgement::Uncertain => None,
        }
    });
    cases.collect()
}

/// A skill's bundle with its new cases, which replace those of the same name.
pub(crate) fn bundle(entry: &Entry, patches: &Patches) -> Vec<BundleCase> {
    let new = patches.get(&entry.skill.id).into_iter().flatten();
    let known = entry.life.bundle.iter().map(|bundled| &bundled.case);
    let replaced = |case: &&BundleCase| {
        let mut new = patches.get(&entry.skill.id).into_iter().flatten();
        !new.any(|one| one.name == case.name)
    };
    known.filter(replaced).chain(new).cloned().collect()
}

/// Whether the current version has an outcome for every case of its bundle.
fn is_tested(entry: &Entry) -> bool {
    let tested = entry.life.tested.as_ref();
    let tested = tested.filter(|tested| tested.version == entry.skill.version);
    let tried = |name: &str| {
        let mut outcomes = tested.iter().flat_map(|tested| &tested.outcomes);
        outcomes.any(|outcome| outcome.name == name)
    };
    let mut bundle = entry.life.bundle.iter();
    tested.is_some() && bundle.all(|bundled| tried(&bundled.case.name))
}

/// Whether no case of the current version can be played: the recipe has no bundles, nothing can be replayed, there is no case and no attempt to make one
/// from, no case could be played, or playing them was given up.
fn is_unplayable(
    context: &MaintenanceContext<'_, MicroPolicy>,
    entry: &Entry,
    changes: &[LibraryChange],
) -> bool {
    let nothing_to_cut = || entry.life.bundle.is_empty() && source(context, entry).is_none();
    if context.played_bundles().is_none() || nothing_to_cut() {
        return true;
    }
    let mut outcomes = last_outcomes(entry, changes).peekable();
    if outcomes.peek().is_some() {
        return outcomes.all(|outcome| !outcome.was_played());
    }
    let (last, mark) = (entry.life.bundle.last(), mark(&entry.skill.reference()));
    last.is_some_and(|last| context.library.is_handled(&(mark + &last.case.name)))
}

/// The prefix of the fingerprints of a version's bundles; the name of the bundle's last case follows.
fn mark(skill: &SkillRef) -> String {
    format!("test/{}/{}/", skill.id, skill.version)
}

/// The cases of bundles that changed, and of versions that were never tested.
pub(crate) fn test_cases(
    context: &MaintenanceContext<'_, MicroPolicy>,
    patches: &Patches,
) -> Vec<Case> {
    let Some(policy) = context.played_bundles() else {
        return Vec::new();
    };
    let due = context.library.entries().filter(|entry| {
        let changed = !is_tested(entry) || patches.contains_key(&entry.skill.id);
        context.gathers_evidence(entry) && changed
    });
    let due = due.filter_map(|entry| {
        let (cases, mark) = (bundle(entry, patches), mark(&entry.skill.reference()));
        let given_up = (context.library).is_handled(&(mark.clone() + &cases.last()?.name));
        (!given_up).then(|| (misses(context.library, &mark), entry, cases))
    });
    let mut due: Vec<_> = due.collect();
    due.sort_by_key(|(misses, ..)| *misses);
    let due = due.into_iter().take(policy.most.get() as usize);
    let asks = due.flat_map(|(_, entry, cases)| {
        cases.into_iter().map(|case| Case {
            skill: Some(Box::new(entry.skill.clone())),
            beside: Vec::new(),
            case: Box::new(case),
        })
    });
    asks.collect()
}

/// The refusal of a release, with the case that fails and the reason; `None` for a case that passes.
pub(crate) fn failure(outcome: &CaseOutcome) -> Option<String> {
    let why = outcome.reason()?;
    Some(format!(
        "not released: the case {} fails: {why}",
        outcome.name
    ))
}

/// The new cases, as changes.
fn patch_changes(patches: &Patches) -> Vec<LibraryChange> {
    let patch = |(skill, cases): (&SkillId, &Vec<BundleCase>)| LibraryChange::PatchBundle {
        skill: skill.clone(),
        cases: cases.clone(),
        dropped: Vec::new(),
    };
    patches.iter().map(patch).collect()
}

/// The changes after the bundles ran: new cases and outcomes are kept, and skills with enough support are released that are on
/// trial or tried in quarantine.
pub(crate) fn tested(
    context: &MaintenanceContext<'_, MicroPolicy>,
    patches: &Patches,
    runs: &[PlayedCase],
    events: &mut Vec<EventKind>,
) -> Vec<LibraryChange> {
    let mut changes = patch_changes(patches);
    let outcomes = outcomes(runs);
    for ran in &outcomes {
        if ran.temporary {
            let last = ran.cases.last().map(|(case, _)| case.name.as_str());
            let fingerprint = mark(&ran.skill) + last.unwrap_or_default();
            let entry = context.library.get(&ran.skill.id);
            let name = entry.map_or("", |entry| entry.skill.name.as_str());
            let what = format!("{name}: playing its bundle");
            changes.push(missed(context, &what, &fingerprint, events));
            continue;
        }
        let outcomes = ran.cases.iter().map(|(_, outcome)| outcome.clone());
        changes.push(LibraryChange::Test {
            skill: ran.skill.clone(),
            outcomes: outcomes.collect(),
        });
    }
    let mut released = Vec::new();
    let waiting = context.library.entries();
    let waiting = waiting.filter(|entry| entry.skill.state == State::Trial || context.tries(entry));
    for entry in waiting {
        let tasks = support_in_maintenance(context, entry, &changes);
        if tasks.is_none()
            && is_unplayable(context, entry, &changes)
            && let Some(tasks) = live::support(context, entry)
        {
            released.push(live::release(entry, tasks));
            continue;
        }
        if tasks.is_none() {
            let mut ran = outcomes.iter();
            let ran = ran.find(|ran| ran.skill == entry.skill.reference());
            let mut cases = ran.into_iter().flat_map(|ran| &ran.cases);
            let bundles = context.policy.bundles.as_ref();
            let harm_blocks = bundles.is_some_and(|bundles| bundles.harm_blocks);
            let blocking = cases.find(|(case, ran)| blocks_release(entry, case, ran, harm_blocks));
            let why = blocking.and_then(|(_, outcome)| failure(outcome));
            events.extend(why.map(|why| EventKind::Refused {
                reason: format!("{}: {why}", entry.skill.name),
            }));
        }
        released.extend(tasks.map(|tasks| {
            let reason = format!("attempts at {tasks} tasks speak for it");
            match entry.skill.state {
                State::Quarantined => quarantine::release(entry, reason),
                _ => LibraryChange::SetState {
                    skill: entry.skill.id.clone(),
                    state: State::Active,
                    reason,
                },
            }
        }));
    }
    changes.extend(released);
    changes
}

#[cfg(test)]
mod tests;
