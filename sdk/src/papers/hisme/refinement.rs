//! Refinement: decides from failed attempts which skills get a new version, and from its test cases whether that is released
//! (HiSME 3.3, Eq. 13, algorithm 4; rows H6, H10).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{BundleCase, Judgement, LibraryChange, Role, Skill, SkillRef, Taint, Trace},
    id::{AttemptId, SkillId, TaskId},
    library::Entry,
    papers::hisme::{
        MicroPolicy, RefinePolicy,
        bundles::{Patches, bundle},
        refinement::trigger::trigger,
        support::last_outcomes,
    },
    policy::{Case, Played, RoleReply},
    run::report::EventKind,
    stations::{
        admit::{
            Terms,
            draft::{self, DraftSources, has_same_content},
            identity::Meanings,
        },
        maintain::{
            MaintenanceContext,
            outcomes::is_temporary,
            retries::{handled, missed, misses},
            support::followed_since,
        },
    },
};

mod gate;
mod releases;
mod trigger;
mod whole;

pub(crate) use crate::papers::hisme::refinement::releases::{drafts, released};

/// Number of attempts that the refiner is shown.
const SHOWN: usize = 3;

/// Minimum number of tasks at which a skill that was judged helpful has to be insufficient before it is refined.
const SEVERAL: usize = 2;

/// The next version of a skill, not tested yet.
#[derive(Clone, Debug)]
pub(crate) struct NextVersion {
    skill: Skill,
    /// The cases of the failed attempts for which the skill was refined.
    triggers: Vec<BundleCase>,
    /// The fingerprint of these attempts.
    evidence: String,
    /// The entry that holds it as a draft, if a curator wrote it.
    draft: Option<SkillId>,
}

/// The refiner's tasks: skills with enough failed attempts ([`RefinePolicy::failed`]), each once for the same evidence.
pub(crate) fn refine_tasks(context: &MaintenanceContext<'_, MicroPolicy>) -> Vec<RoleTask> {
    let Some(policy) = &context.policy.refine else {
        return Vec::new();
    };
    let due = context.library.entries().filter(|entry| {
        let reference = entry.skill.reference();
        let mut judged = entry.life.judged_in_trial();
        // Most skills of a large library have no evidence; this test is the cheap one.
        let met = judged.any(|one| one.skill == reference)
            || policy.failed_cases && failed_cases(context, entry).next().is_some();
        entry.skill.state.is_offered()
            && met
            && evidence(context, policy, entry).len() >= policy.failed.get() as usize
            && !context.library.is_handled(&fingerprint(context, entry))
    });
    let mut due: Vec<&Entry> = due.collect();
    due.sort_by_key(|entry| misses(context.library, &mark(&entry.skill.reference())));
    let asks = due.into_iter().filter_map(|entry| {
        let attempts = evidence(context, policy, entry).into_iter();
        let attempts: Vec<Trace> = attempts.take(SHOWN).cloned().collect();
        let failures = entry.life.tested.iter().flat_map(|tested| &tested.outcomes);
        let failures = failures.filter(|outcome| outcome.was_played());
        let failures = failures.filter_map(|outcome| outcome.reason().map(str::to_owned));
        (!attempts.is_empty()).then(|| RoleTask::Refine {
            skill: Box::new(entry.skill.clone()),
            attempts,
            failures: failures.collect(),
            rules: context.library.rules(Role::Refine).to_vec(),
            whole: policy.whole,
        })
    });
    asks.take(policy.most.get() as usize).collect()
}

/// The attempts for which the current version is refined, by the policy: failed attempts, the latest first, then the attempts
/// of failed cases.
fn evidence<'a>(
    context: &MaintenanceContext<'a, MicroPolicy>,
    policy: &RefinePolicy,
    entry: &Entry,
) -> Vec<&'a Trace> {
    let mut all: Vec<&Trace> = failed(context, policy, entry).collect();
    if policy.failed_cases {
        let known: BTreeSet<AttemptId> =
            (all.iter().map(|trace| trace.trajectory.attempt.clone())).collect();
        let more = failed_cases(context, entry);
        all.extend(more.filter(|trace| !known.contains(&trace.trajectory.attempt)));
    }
    all
}

/// The kept attempts of cases that the current version fails.
fn failed_cases<'a>(
    context: &MaintenanceContext<'a, MicroPolicy>,
    entry: &Entry,
) -> impl Iterator<Item = &'a Trace> {
    let outcomes = last_outcomes(entry, &[]);
    let fails = outcomes.filter(|outcome| outcome.has_failed());
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
    context: &MaintenanceContext<'a, MicroPolicy>,
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
    let library = context.library;
    // Whether the attempt had an action refused; `None` for an attempt that is not known to have followed the version.
    let refused = move |trace: &Trace| {
        let since = followed_since(library, &trace.trajectory, &reference)?;
        // A refusal before the skill stood in the prompt is not the skill's.
        let mut steps = trace.trajectory.steps.iter();
        Some(steps.any(|step| step.result.is_error && step.index >= since))
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

/// The fingerprint of the current version's evidence: the version and the latest attempt.
fn fingerprint(context: &MaintenanceContext<'_, MicroPolicy>, entry: &Entry) -> String {
    let policy = context.policy.refine.as_ref();
    let latest = policy.and_then(|policy| evidence(context, policy, entry).first().copied());
    let latest = latest.map(|trace| trace.trajectory.attempt.as_str());
    mark(&entry.skill.reference()) + latest.unwrap_or_default()
}

/// The prefix of the fingerprints of a version's evidence.
fn mark(skill: &SkillRef) -> String {
    format!("refine/{}/{}/", skill.id, skill.version)
}

/// The next versions that the refiner wrote, to be tested, and the changes that archive skills and that mark the evidence of the
/// others as handled or missed.
pub(crate) fn next_versions(
    context: &MaintenanceContext<'_, MicroPolicy>,
    step: u64,
    replies: &[RoleReply],
    events: &mut Vec<EventKind>,
) -> (Vec<NextVersion>, Vec<LibraryChange>) {
    let mut all = Vec::new();
    let mut changes = Vec::new();
    for RoleReply { task, reply } in replies {
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
        // After a temporary error the same evidence is tried again; after an unreadable answer it is not.
        let played = match reply {
            Ok(Some(played)) => played,
            Ok(None) => continue,
            Err(error) if is_temporary(error) => {
                let what = format!("{}: refining", before.name);
                changes.push(missed(context, &what, &evidence, events));
                continue;
            }
            Err(_) => {
                changes.push(handled(&evidence));
                continue;
            }
        };
        let key = format!("{step}/refine/{}", before.id);
        match refined(context, key, (before, attempts), played, &all) {
            // Its evidence is marked as handled once it was tested.
            Ok(Refined::Next(skill, note)) => {
                events.extend(note.map(|note| refused(format!("{}: {note}", before.name))));
                all.push(NextVersion {
                    skill: *skill,
                    triggers: triggers(context, entry, attempts),
                    evidence,
                    draft: None,
                });
            }
            Ok(Refined::Archived(change)) => changes.extend([change, handled(&evidence)]),
            Err(reason) => {
                let reason = reason.map(|reason| format!("{}: {reason}", before.name));
                events.extend(reason.map(refused));
                changes.push(handled(&evidence));
            }
        }
    }
    (all, changes)
}

/// The test cases of the attempts for which a skill is refined. The attempts of failed cases are left out: their cases are in the
/// bundle already.
fn triggers(
    context: &MaintenanceContext<'_, MicroPolicy>,
    entry: &Entry,
    attempts: &[Trace],
) -> Vec<BundleCase> {
    let policy = context.policy.refine.as_ref();
    let failed = policy.map(|policy| failed(context, policy, entry));
    let failed: BTreeSet<_> = (failed.into_iter().flatten())
        .map(|trace| &trace.trajectory.attempt)
        .collect();
    let of_failed = attempts.iter();
    let of_failed = of_failed.filter(|trace| failed.contains(&trace.trajectory.attempt));
    of_failed.map(|one| trigger(context.library, one)).collect()
}

/// What comes of a refiner's answer.
enum Refined {
    /// A next version, and a note about a part of the answer that is not followed.
    Next(Box<Skill>, Option<String>),
    /// The change that archives the skill.
    Archived(LibraryChange),
}

/// What a refiner answered for these attempts. `others` are the next versions of other skills.
///
/// # Errors
/// The reason why nothing comes of it, for an event; `None` if another event has it already.
fn refined(
    context: &MaintenanceContext<'_, MicroPolicy>,
    key: String,
    (before, attempts): (&Skill, &[Trace]),
    played: &Played,
    others: &[NextVersion],
) -> std::result::Result<Refined, Option<String>> {
    let is_whole = whole::is_allowed(context);
    let (draft, tools) = match &played.answer {
        RoleAnswer::Draft(draft) => (draft, None),
        RoleAnswer::Revision { draft, tools } if is_whole => (draft, Some(tools.as_slice())),
        RoleAnswer::Revision { .. } => return Err(Some(whole::NOT_ITS_TOOLS.to_owned())),
        RoleAnswer::Archive(reason) => {
            let archived = whole::archived(context, before, attempts, reason);
            return archived.map(Refined::Archived).map_err(Some);
        }
        RoleAnswer::Nothing(reason) => return Err(Some(reason.clone())),
        _ => return Err(None),
    };
    let sources = DraftSources {
        key,
        role: Role::Refine,
        tasks: attempts.iter().map(|trace| trace.task.id.clone()).collect(),
        taint: attempts.iter().map(Trace::taint).max().unwrap_or_default(),
        parents: vec![before.reference()],
        terms: Terms::default(),
        meanings: &Meanings::default(),
    };
    let new = draft::skill_of(
        context,
        &context.standing.admit,
        &sources,
        draft,
        played.fallback,
    )
    .map_err(|error| Some(error.to_string()))?;
    let (skill, note) = match is_whole {
        true => whole::revised(context, (before, attempts), (new, tools), others)?,
        false => (text_revised(before, new), None),
    };
    let is_same = match is_whole {
        true => whole::is_same(before, &skill),
        false => has_same_content(before, &skill),
    };
    if is_same {
        return Err(Some(
            note.unwrap_or_else(|| "nothing was changed".to_owned()),
        ));
    }
    // A quarantined version would take the place of one that is offered.
    if skill.taint > before.taint {
        let reason = "the refined version has untrusted sources, and the current one has none";
        return Err(Some(reason.to_owned()));
    }
    if before.taint == Taint::Tainted && before.state.is_offered() {
        let reason = "the skill has untrusted sources, so that its next version would wait in quarantine in its place";
        return Err(Some(reason.to_owned()));
    }
    Ok(Refined::Next(Box::new(skill), note))
}

/// The next version of a skill of which the refiner changes the description, the trigger and the body alone.
fn text_revised(before: &Skill, new: Skill) -> Skill {
    Skill {
        name: before.name.clone(),
        original_name: before.original_name.clone(),
        kind: before.kind,
        scope: before.scope.clone(),
        ..draft::revision_of(before, new)
    }
}

fn refused(reason: String) -> EventKind {
    EventKind::Refused { reason }
}

/// The test cases of next versions: the cases that triggered the refinement, and the skill's bundle.
pub(crate) fn retest_cases(
    context: &MaintenanceContext<'_, MicroPolicy>,
    patches: &Patches,
    versions: &[NextVersion],
) -> Vec<Case> {
    if context.played_bundles().is_none() {
        return Vec::new();
    }
    let asks = versions.iter().flat_map(|one| {
        let entry = context.library.get(&one.skill.id);
        let known = entry
            .map(|entry| bundle(entry, patches))
            .unwrap_or_default();
        let is_trigger = |case: &BundleCase| one.triggers.iter().any(|one| one.name == case.name);
        let known = known.into_iter().filter(move |case| !is_trigger(case));
        let cases = one.triggers.iter().cloned().chain(known);
        let skill = Some(Box::new(one.skill.clone()));
        cases.map(move |case| Case {
            skill: skill.clone(),
            beside: Vec::new(),
            case: Box::new(case),
        })
    });
    asks.collect()
}

/// Number of test cases that the next version of a refiner's task has at most.
pub(crate) fn most_retests(
    context: &MaintenanceContext<'_, MicroPolicy>,
    patches: &Patches,
    task: &RoleTask,
) -> u64 {
    match task {
        RoleTask::Refine {
            skill, attempts, ..
        } if context.played_bundles().is_some() => {
            let known = (context.library.get(&skill.id)).map(|entry| bundle(entry, patches).len());
            (known.unwrap_or_default() + attempts.len()) as u64
        }
        _ => 0,
    }
}
