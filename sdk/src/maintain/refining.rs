//! Mending (HiSME 3.3, algorithm 4; H10).

mod gate;

use std::collections::{BTreeMap, BTreeSet};

use self::gate::held_back;
use super::{
    RefinePolicy, Upkeep,
    bundling::{Patches, bundle, whole},
    outcomes::{is_for_now, outcomes},
    patience::{handled, missed, misses},
    support::last_outcomes,
};
use crate::{
    admit::admission::{self, Drafted},
    contract::{RoleAnswer, RoleTask},
    domain::{
        BundleCase, CaseKind, CaseOutcome, Judgement, LibraryChange, Role, Skill, SkillRef, State,
        Trace,
    },
    error::Result,
    id::{AttemptId, TaskId},
    library::Entry,
    policy::{Case, Played, PlayedCase, Said},
    propose::asking::taint_of,
    report::EventKind,
};

/// How many attempts a mender is shown.
const SHOWN: usize = 3;

/// At how many tasks a skill that helps has to fall short before it is mended for that.
const SEVERAL: usize = 2;

/// A mended skill that has not passed its bundle yet.
#[derive(Clone, Debug)]
pub(crate) struct Mended {
    /// The next version.
    skill: Skill,
    /// The cases that called for it: the attempts that the version before failed.
    calls: Vec<BundleCase>,
    /// The fingerprint of this evidence.
    evidence: String,
}

/// The refiner's tasks: skills that failed the attempts that followed them, each once for the same evidence.
pub(crate) fn to_mend(context: &Upkeep<'_>) -> Vec<RoleTask> {
    let Some(policy) = &context.policy.refine else {
        return Vec::new();
    };
    let due = context.library.entries().filter(|entry| {
        let reference = entry.skill.reference();
        let mut judged = entry.life.judged_in_trial();
        // Most skills of a large library never met an attempt.
        let met = judged.any(|told| told.skill == reference)
            || policy.failed_cases && failed_cases(context, entry).next().is_some();
        entry.skill.state.is_offered()
            && met
            && evidence(context, policy, entry).len() >= policy.failed as usize
            && !context.library.is_handled(&fingerprint(context, entry))
    });
    let mut due: Vec<&Entry> = due.collect();
    due.sort_by_key(|entry| misses(context.library, &mark(&entry.skill.reference())));
    let asks = due.into_iter().filter_map(|entry| {
        let attempts = evidence(context, policy, entry).into_iter();
        let attempts: Vec<Trace> = attempts.take(SHOWN).cloned().collect();
        let failures = entry.life.tested.iter().flat_map(|tested| &tested.outcomes);
        let failures = failures.filter(|outcome| outcome.was_played());
        let failures = failures.filter_map(|outcome| outcome.failed.clone());
        (!attempts.is_empty()).then(|| RoleTask::Refine {
            skill: Box::new(entry.skill.clone()),
            attempts,
            failures: failures.collect(),
            rules: context.library.rules(Role::Refine).to_vec(),
        })
    });
    asks.take(policy.most as usize).collect()
}

/// The attempts for which the current version is refined, by the policy: failed attempts, the latest first, and then attempts
/// whose cases it fails.
fn evidence<'a>(context: &Upkeep<'a>, policy: &RefinePolicy, entry: &Entry) -> Vec<&'a Trace> {
    let mut all: Vec<&Trace> = failed(context, policy, entry).collect();
    if policy.failed_cases {
        let known: BTreeSet<AttemptId> =
            (all.iter().map(|trace| trace.trajectory.attempt.clone())).collect();
        let more = failed_cases(context, entry);
        all.extend(more.filter(|trace| !known.contains(&trace.trajectory.attempt)));
    }
    all
}

/// The kept attempts whose cases the current version fails.
fn failed_cases<'a>(context: &Upkeep<'a>, entry: &Entry) -> impl Iterator<Item = &'a Trace> {
    let outcomes = last_outcomes(entry, &[]);
    let fails = outcomes.filter(|outcome| outcome.was_played() && outcome.failed.is_some());
    let names: BTreeSet<&String> = fails.map(|outcome| &outcome.name).collect();
    let bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
    let failing = bundle.filter(|case| names.contains(&case.name));
    let attempts: BTreeSet<AttemptId> = failing.map(|case| case.attempt.clone()).collect();
    let traces = context.library.traces();
    traces.filter(move |trace| attempts.contains(&trace.trajectory.attempt))
}

/// The failed attempts of the current version, the latest first: those that it harmed, and by the policy those for which it was
/// insufficient ([`RefinePolicy::insufficient`]).
fn failed<'a>(
    context: &Upkeep<'a>,
    policy: &RefinePolicy,
    entry: &Entry,
) -> impl Iterator<Item = &'a Trace> + use<'a> {
    let insufficient = policy.insufficient;
    let reference = entry.skill.reference();
    let judged = entry.life.judged_in_trial();
    let judgements: BTreeMap<AttemptId, Judgement> = judged
        .filter(|attribution| attribution.skill == reference)
        .map(|attribution| (attribution.attempt.clone(), attribution.judgement))
        .collect();
    // Whether it was refused all the same; none for an attempt that did not follow it.
    let refused = move |trace: &Trace| {
        let mut exposures = trace.trajectory.exposures.iter();
        let seen = exposures.find(|seen| seen.used && seen.skill == reference)?;
        // What was refused before it stood in the prompt it had no part in.
        let mut steps = trace.trajectory.steps.iter();
        Some(steps.any(|step| step.result.is_error && step.index >= seen.since))
    };
    let followed: Vec<(&Trace, bool)> = context
        .library
        .traces()
        .filter_map(|trace| Some((trace, refused(trace)?)))
        .collect();
    let tasks: BTreeSet<&TaskId> = followed.iter().map(|(trace, _)| &trace.task.id).collect();
    let mut outcomes = followed.iter();
    let suffices = outcomes.any(|(trace, refused)| trace.is_success() && !refused);
    let never_suffices = tasks.len() >= SEVERAL && !suffices;
    let failed = move |trace: &&Trace| match judgements.get(&trace.trajectory.attempt) {
        Some(Judgement::Harmful) => true,
        Some(_) if !insufficient => false,
        Some(Judgement::Neutral | Judgement::Uncertain) => refused(trace) == Some(true),
        Some(Judgement::Helpful) => refused(trace) == Some(true) && never_suffices,
        None => false,
    };
    let traces: Vec<&Trace> = context.library.traces().collect();
    traces.into_iter().rev().filter(failed)
}

fn fingerprint(context: &Upkeep<'_>, entry: &Entry) -> String {
    let policy = context.policy.refine.as_ref();
    let latest = policy.and_then(|policy| evidence(context, policy, entry).first().copied());
    let latest = latest.map(|trace| trace.trajectory.attempt.as_str());
    mark(&entry.skill.reference()) + latest.unwrap_or_default()
}

/// What the fingerprints of a version's evidence begin with.
fn mark(skill: &SkillRef) -> String {
    format!("refine/{}/{}/", skill.id, skill.version)
}

/// The next versions that were written, to be tried, and word of what evidence was handed out.
pub(crate) fn mended(
    context: &Upkeep<'_>,
    step: u64,
    said: &[Said],
    events: &mut Vec<EventKind>,
) -> (Vec<Mended>, Vec<LibraryChange>) {
    let mut all = Vec::new();
    let mut marks = Vec::new();
    for Said { task, said } in said {
        let RoleTask::Refine {
            skill: before,
            attempts,
            ..
        } = task
        else {
            continue;
        };
        let Some(entry) = context.library.get(&before.id) else {
            continue;
        };
        let evidence = fingerprint(context, entry);
        // What cannot be read is not asked again from the same evidence; a role that was not there is.
        let played = match said {
            Ok(Some(played)) => played,
            Ok(None) => continue,
            Err(error) if is_for_now(error) => {
                let what = format!("{}: mending", before.name);
                marks.push(missed(context, &what, &evidence, events));
                continue;
            }
            Err(_) => {
                marks.push(handled(&evidence));
                continue;
            }
        };
        match next_version(context, step, before, attempts, played, said) {
            // It is handled when it was tried.
            Ok(skill) => {
                // A failed case is in the bundle as it is.
                let policy = context.policy.refine.as_ref();
                let failed = policy.map(|policy| failed(context, policy, entry));
                let failed: BTreeSet<_> = (failed.into_iter().flatten())
                    .map(|trace| &trace.trajectory.attempt)
                    .collect();
                let called = attempts.iter();
                let called = called.filter(|trace| failed.contains(&trace.trajectory.attempt));
                all.push(Mended {
                    skill,
                    calls: called.map(call).collect(),
                    evidence,
                });
            }
            Err(reason) => {
                let told = reason.map(|reason| format!("{}: {reason}", before.name));
                events.extend(told.map(refused));
                marks.push(handled(&evidence));
            }
        }
    }
    (all, marks)
}

/// The next version that a role wrote, or why there is none, where that was not told yet.
fn next_version(
    context: &Upkeep<'_>,
    step: u64,
    before: &Skill,
    attempts: &[Trace],
    played: &Played,
    said: &Result<Option<Played>>,
) -> std::result::Result<Skill, Option<String>> {
    let draft = match &played.answer {
        RoleAnswer::Draft(draft) => draft,
        RoleAnswer::Nothing(reason) => return Err(Some(reason.clone())),
        _ => return Err(None),
    };
    let steps = attempts.iter().flat_map(|trace| &trace.trajectory.steps);
    let drafted = Drafted {
        key: format!("{step}/refine/{}", before.id),
        role: Role::Refine,
        tasks: attempts.iter().map(|trace| trace.task.id.clone()).collect(),
        taint: taint_of(steps),
        parents: vec![before.reference()],
        said,
    };
    let new = admission::skill_of(context, context.admit, &drafted, draft, played.fallback)
        .map_err(|error| Some(error.to_string()))?;
    if new.body == before.body && new.description == before.description {
        return Err(Some("nothing was changed".to_owned()));
    }
    // It would be held back in the place of one that is offered.
    if new.taint > before.taint {
        let reason = "it was mended from untrusted words, and is clean as it is";
        return Err(Some(reason.to_owned()));
    }
    let mut skill = admission::revision_of(before, new);
    // A name labels; another one would pass for another skill.
    skill.name = before.name.clone();
    skill.original_name.clone_from(&before.original_name);
    Ok(skill)
}

/// The case of an attempt that called for a skill to be mended.
fn call(trace: &Trace) -> BundleCase {
    let mut case = whole(trace, CaseKind::Integration);
    case.refusals = 0;
    case
}

fn refused(reason: String) -> EventKind {
    EventKind::Refused { reason }
}

/// The bundles of mended skills, with the cases that called for them.
pub(crate) fn to_retest(context: &Upkeep<'_>, patches: &Patches, mended: &[Mended]) -> Vec<Case> {
    if context.policy.bundles.is_none() {
        return Vec::new();
    }
    let asks = mended.iter().flat_map(|one| {
        let entry = context.library.get(&one.skill.id);
        let known = entry
            .map(|entry| bundle(entry, patches))
            .unwrap_or_default();
        let called = |case: &BundleCase| one.calls.iter().any(|call| call.name == case.name);
        let known = known.into_iter().filter(move |case| !called(case));
        let cases = one.calls.iter().cloned().chain(known);
        let skill = Some(Box::new(one.skill.clone()));
        cases.map(move |case| Case {
            skill: skill.clone(),
            case: Box::new(case),
        })
    });
    asks.collect()
}

/// The changes that release mended skills which pass their bundles; the others stay as they were, with the reason. `before`
/// are the changes decided before, which have the test results of the earlier versions.
pub(crate) fn released(
    context: &Upkeep<'_>,
    mended: Vec<Mended>,
    runs: &[PlayedCase],
    before: &[LibraryChange],
    events: &mut Vec<EventKind>,
) -> Vec<LibraryChange> {
    let mut outcomes = outcomes(runs);
    let mut changes = Vec::new();
    for mended in mended {
        let Mended {
            mut skill,
            calls,
            evidence,
        } = mended;
        let Some(entry) = context.library.get(&skill.id) else {
            continue;
        };
        let at = (outcomes.iter()).position(|ran| ran.skill == skill.reference());
        let ran = at.map(|at| outcomes.swap_remove(at));
        if ran.as_ref().is_some_and(|ran| ran.for_now) {
            let reason = "not released: a case of its bundle could not be played just now";
            events.push(refused(format!("{}: {reason}", skill.name)));
            let what = format!("{}: trying the next version", skill.name);
            changes.push(missed(context, &what, &evidence, events));
            continue;
        }
        changes.push(handled(&evidence));
        let tried = ran.map(|ran| ran.cases).unwrap_or_default();
        let gate = context.policy.bundles.map(|bundles| bundles.gate);
        let known = last_outcomes(entry, before);
        let known = known.map(|outcome| (outcome.name.clone(), outcome.clone()));
        let known: BTreeMap<_, _> = known.collect();
        if let Some(reason) = gate.and_then(|gate| held_back(gate, &known, &calls, &tried)) {
            events.push(refused(format!("{}: {reason}", skill.name)));
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
        if !tried.is_empty() {
            changes.extend(passed_on(reference, calls, &tried));
        }
    }
    changes
}

/// The bundle of a version that was released: what called for it is in, what it fails is not.
fn passed_on(
    skill: SkillRef,
    mut calls: Vec<BundleCase>,
    tried: &[(BundleCase, CaseOutcome)],
) -> [LibraryChange; 2] {
    let fails = |(_, outcome): &&(BundleCase, CaseOutcome)| {
        outcome.was_played() && outcome.failed.is_some()
    };
    let failed = tried.iter().filter(fails);
    let failed: Vec<String> = failed.map(|(case, _)| case.name.clone()).collect();
    calls.retain(|call| !failed.contains(&call.name));
    let kept = tried.iter().filter(|one| !fails(one));
    let outcomes = kept.map(|(_, outcome)| outcome.clone()).collect();
    [
        LibraryChange::PatchBundle {
            skill: skill.id.clone(),
            cases: calls,
            dropped: failed,
        },
        LibraryChange::Test { skill, outcomes },
    ]
}
