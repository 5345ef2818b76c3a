//! Bundles (HiSME 3.3, H5, H6): cases are cut from attempts, run against the world, and decide on release.

use std::collections::BTreeMap;

use super::{
    Upkeep,
    covered::Covered,
    live,
    outcomes::outcomes,
    patience::{missed, misses},
    support::{is_against, last_outcomes, spoken_for},
};
use crate::{
    contract::{CaseDraft, RoleAnswer, RoleTask},
    domain::{
        Attribution, BundleCase, CaseKind, CaseOutcome, Judgement, LibraryChange, SkillRef, State,
        Trace,
    },
    error::Result,
    id::{AttemptId, SkillId},
    library::{Entry, SkillLibrary},
    policy::{Case, Played, PlayedCase, Said},
    report::EventKind,
};

/// How many attempts that a skill harmed, the latest, bring cases into its bundle.
const MOST_HARMED: usize = 4;

/// Cases that were cut and not committed yet, by skill.
pub(crate) type Patches = BTreeMap<SkillId, Vec<BundleCase>>;

/// Role tasks that cut test cases for skills made from attempts of which they have none.
pub(crate) fn to_cut(context: &Upkeep<'_>) -> Vec<RoleTask> {
    let Some(policy) = &context.policy.bundles else {
        return Vec::new();
    };
    let offered = context.library.entries();
    let offered = offered.filter(|entry| entry.skill.state.is_offered());
    let asks = offered.filter_map(|entry| {
        let attempt = source(context, entry)?;
        Some(RoleTask::Bundle {
            skill: Box::new(entry.skill.clone()),
            attempt: Box::new(attempt.clone()),
        })
    });
    asks.take(policy.most as usize).collect()
}

/// The case of an attempt that came to what a skill says without following it; none where it tells nothing new.
pub(crate) fn borne_out(
    context: &Upkeep<'_>,
    skill: &SkillRef,
    attempt: &Trace,
) -> Option<LibraryChange> {
    context.policy.bundles.as_ref()?;
    let entry = context.library.get(&skill.id)?;
    let mut exposures = attempt.trajectory.exposures.iter();
    let followed = exposures.any(|seen| seen.used && seen.skill.id == skill.id);
    let tells = !followed && may_tell(entry, attempt);
    (tells && Covered::of(entry, []).take(&attempt.task.id)).then(|| LibraryChange::PatchBundle {
        skill: skill.id.clone(),
        cases: vec![whole(attempt, CaseKind::Integration)],
        dropped: Vec::new(),
    })
}

/// Whether an attempt may speak for a skill: one that was done, at a task that the skill was not made from.
pub(crate) fn may_tell(entry: &Entry, attempt: &Trace) -> bool {
    let own = entry.skill.provenance.tasks.contains(&attempt.task.id);
    entry.skill.state.is_offered() && attempt.is_success() && !own
}

/// The latest successful attempt at a task that a skill was made from and has no case of, where it is kept.
fn source<'a>(context: &Upkeep<'a>, entry: &Entry) -> Option<&'a Trace> {
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

/// The cases that come of what was said, and those that judgements call for.
pub(crate) fn patches(context: &Upkeep<'_>, said: &[Said]) -> Patches {
    let mut patches = Patches::new();
    if context.policy.bundles.is_none() {
        return patches;
    }
    for Said { task, said } in said {
        let RoleTask::Bundle { skill, attempt } = task else {
            continue;
        };
        let cases = cases(attempt, said);
        if !cases.is_empty() {
            patches.entry(skill.id.clone()).or_default().extend(cases);
        }
    }
    for entry in context.library.entries() {
        if entry.skill.state.is_offered() {
            let cut = patches.get(&entry.skill.id).map_or(&[][..], Vec::as_slice);
            let fragments = fragments(context.library, entry, cut);
            if !fragments.is_empty() {
                let cases = patches.entry(entry.skill.id.clone()).or_default();
                cases.extend(fragments);
            }
        }
    }
    patches
}

/// The cases that a role cut from an attempt; the whole attempt where it said nothing that could be read.
fn cases(attempt: &Trace, said: &Result<Option<Played>>) -> Vec<BundleCase> {
    let drafts = match said {
        Ok(Some(Played {
            answer: RoleAnswer::Cases(drafts),
            ..
        })) => drafts.as_slice(),
        _ => &[],
    };
    let mut cases: Vec<BundleCase> = drafts.iter().map(|draft| case(attempt, draft)).collect();
    if cases.is_empty() {
        cases.push(whole(attempt, CaseKind::Integration));
    }
    cases
}

fn case(attempt: &Trace, draft: &CaseDraft) -> BundleCase {
    let before = attempt.trajectory.steps.iter().take(draft.from);
    // What was refused did nothing, so the fragment begins where it did without it.
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
        refusals: allowed(attempt, refused),
        least_score: 0.0,
    }
}

/// The case of a whole attempt.
pub(crate) fn whole(attempt: &Trace, kind: CaseKind) -> BundleCase {
    let draft = CaseDraft {
        kind,
        from: 0,
        about: String::new(),
    };
    case(attempt, &draft)
}

/// How many refusals a skill may cost where an attempt had so many: fewer than one that no skill helped, no more than one
/// that some skill did.
fn allowed(attempt: &Trace, refused: usize) -> u32 {
    let mut exposures = attempt.trajectory.exposures.iter();
    let helped = exposures.any(|exposure| exposure.used);
    let less = if helped {
        refused
    } else {
        refused.saturating_sub(1)
    };
    u32::try_from(less).unwrap_or(u32::MAX)
}

/// What judgements of the current version add (algorithm 4): an attempt that it helped with has to go as well again, one
/// that it harmed has to go better. `cut` is what came of roles just now.
fn fragments(library: &SkillLibrary, entry: &Entry, cut: &[BundleCase]) -> Vec<BundleCase> {
    let known = |attempt: &AttemptId| {
        let mut bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
        bundle.any(|case| case.attempt == *attempt)
    };
    let mut tasks = Covered::of(entry, cut);
    let of_version = |told: &&Attribution| told.skill == entry.skill.reference();
    let judged = entry.life.judged_in_trial().filter(of_version);
    let mut told: Vec<(Judgement, &Trace)> = judged
        .filter_map(|told| {
            let mut traces = library.traces();
            let trace = traces
                .find(|trace| trace.trajectory.attempt == told.attempt && trace.is_success())?;
            Some((told.judgement, trace))
        })
        .collect();
    // A bundle that is full drops its oldest cases, which would come back each time.
    let is_harmful = |(judgement, _): &&(Judgement, &Trace)| *judgement == Judgement::Harmful;
    let mut passed = (told.iter().filter(is_harmful).count()).saturating_sub(MOST_HARMED);
    told.retain(|one| {
        let is_passed = passed > 0 && is_harmful(&one);
        passed -= usize::from(is_passed);
        !is_passed
    });
    let cases = told.into_iter().filter_map(|(judgement, trace)| {
        if known(&trace.trajectory.attempt) {
            return None;
        }
        match judgement {
            Judgement::Helpful => {
                let new = tasks.take(&trace.task.id);
                new.then(|| whole(trace, CaseKind::Integration))
            }
            Judgement::Harmful => {
                let mut case = whole(trace, CaseKind::Negative);
                case.refusals = case.refusals.saturating_sub(1);
                Some(case)
            }
            Judgement::Neutral | Judgement::Uncertain => None,
        }
    });
    cases.collect()
}

/// A skill's whole bundle, what was cut just now included.
pub(crate) fn bundle(entry: &Entry, patches: &Patches) -> Vec<BundleCase> {
    let new = patches.get(&entry.skill.id).into_iter().flatten();
    let known = entry.life.bundle.iter().map(|bundled| &bundled.case);
    let replaced = |case: &&BundleCase| {
        let mut new = patches.get(&entry.skill.id).into_iter().flatten();
        !new.any(|one| one.name == case.name)
    };
    known.filter(replaced).chain(new).cloned().collect()
}

/// Whether this version was tried on every case of its bundle.
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

/// Whether nothing of this version's bundle can be played: there is none, none of its cases could be, or they were given up.
fn cannot_be_played(context: &Upkeep<'_>, entry: &Entry, changes: &[LibraryChange]) -> bool {
    let nothing_to_cut = || entry.life.bundle.is_empty() && source(context, entry).is_none();
    if context.policy.bundles.is_none() || nothing_to_cut() {
        return true;
    }
    let mut outcomes = last_outcomes(entry, changes).peekable();
    if outcomes.peek().is_some() {
        return outcomes.all(|outcome| !outcome.was_played());
    }
    let (last, mark) = (entry.life.bundle.last(), mark(&entry.skill.reference()));
    last.is_some_and(|last| context.library.is_handled(&(mark + &last.case.name)))
}

/// What the fingerprints of a version's bundles begin with; behind it stands the case that came last.
fn mark(skill: &SkillRef) -> String {
    format!("test/{}/{}/", skill.id, skill.version)
}

/// The cases of bundles that changed, and of versions that were never tested.
pub(crate) fn to_test(context: &Upkeep<'_>, patches: &Patches) -> Vec<Case> {
    let Some(policy) = &context.policy.bundles else {
        return Vec::new();
    };
    let due = context.library.entries().filter(|entry| {
        let changed = !is_tested(entry) || patches.contains_key(&entry.skill.id);
        entry.skill.state.is_offered() && changed
    });
    let due = due.filter_map(|entry| {
        let (cases, mark) = (bundle(entry, patches), mark(&entry.skill.reference()));
        let given_up = (context.library).is_handled(&(mark.clone() + &cases.last()?.name));
        (!given_up).then(|| (misses(context.library, &mark), entry, cases))
    });
    let mut due: Vec<_> = due.collect();
    due.sort_by_key(|(misses, ..)| *misses);
    let due = due.into_iter().take(policy.most as usize);
    let asks = due.flat_map(|(_, entry, cases)| {
        cases.into_iter().map(|case| Case {
            skill: Some(Box::new(entry.skill.clone())),
            case: Box::new(case),
        })
    });
    asks.collect()
}

/// That a release is refused, and for which case; none where it passes.
pub(crate) fn failing(outcome: &CaseOutcome) -> Option<String> {
    let why = outcome.reason()?;
    Some(format!(
        "not released: the case {} fails: {why}",
        outcome.name
    ))
}

/// The cases that were cut, as changes.
fn patched(patches: &Patches) -> Vec<LibraryChange> {
    let patch = |(skill, cases): (&SkillId, &Vec<BundleCase>)| LibraryChange::PatchBundle {
        skill: skill.clone(),
        cases: cases.clone(),
        dropped: Vec::new(),
    };
    patches.iter().map(patch).collect()
}

/// What the bundles came to: the cases and outcomes are kept, and what is on trial and passes is released.
pub(crate) fn tested(
    context: &Upkeep<'_>,
    patches: &Patches,
    runs: &[PlayedCase],
    events: &mut Vec<EventKind>,
) -> Vec<LibraryChange> {
    let mut changes = patched(patches);
    let outcomes = outcomes(runs);
    for ran in &outcomes {
        if ran.for_now {
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
    let on_trial = context.library.entries();
    let on_trial = on_trial.filter(|entry| entry.skill.state == State::Trial);
    for entry in on_trial {
        let counts = entry.life.counts(entry.skill.version);
        let tasks = if context.policy.bundles.is_some() {
            spoken_for(context, entry, &changes)
        } else {
            // Without a bundle it is the judgements alone that speak for a skill.
            let falls = context.policy.filter.as_ref();
            let falls = falls.is_some_and(|policy| policy.takes(&entry.life, entry.skill.version));
            let helped = counts.helpful > 0 && counts.harmful <= counts.helpful;
            (helped && !falls).then_some(counts.helpful)
        };
        if tasks.is_none()
            && cannot_be_played(context, entry, &changes)
            && let Some(tasks) = live::support(context, entry)
        {
            released.push(live::release(entry, tasks));
            continue;
        }
        if tasks.is_none() {
            let mut tried = outcomes.iter();
            let tried = tried.find(|ran| ran.skill == entry.skill.reference());
            let mut tried = tried.into_iter().flat_map(|ran| &ran.cases);
            let bundles = context.policy.bundles.as_ref();
            let harm_blocks = bundles.is_some_and(|bundles| bundles.harm_blocks);
            let against = tried.find(|(case, ran)| is_against(entry, case, ran, harm_blocks));
            let why = against.and_then(|(_, outcome)| failing(outcome));
            events.extend(why.map(|why| EventKind::Refused {
                reason: format!("{}: {why}", entry.skill.name),
            }));
        }
        released.extend(tasks.map(|tasks| LibraryChange::SetState {
            skill: entry.skill.id.clone(),
            state: State::Active,
            reason: format!("attempts at {tasks} tasks speak for it"),
        }));
    }
    changes.extend(released);
    changes
}

#[cfg(test)]
mod tests;
