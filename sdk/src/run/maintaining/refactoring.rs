//! Refactoring (HiSME 3.2, appendix C, algorithm 3; H2, H3): attempts that overlap are grouped, and what they share becomes
//! a skill when all of its true instances bear it out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    super::{
        Event,
        admission::{self, Admission, Drafted},
        asking::taint_of,
        context::Context,
    },
    bundling::{Covered, may_tell, outcomes, whole},
    slots::{Ask, Slots},
};
use crate::{
    contract::RoleTask,
    domain::{BundleCase, CaseKind, CaseOutcome, LibraryChange, Role, Skill, State, Taint, Trace},
    error::Result,
    id::{AttemptId, TaskId},
    library::Entry,
    propose::{Clique, CliqueOptions, Fingerprint, Segment, project},
};

/// What marks a group among the things that were handed to a role.
const GROUP: &str = "group/";

/// What a group came to, not tried yet on its true instances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposed {
    skill: Skill,
    /// None where the library has the skill already.
    admission: Option<Admission>,
    cases: Vec<Instance>,
}

/// A true instance of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Instance {
    case: BundleCase,
    /// Whether it is to be played without any skill as well: an attempt that followed the skill comes to the same with it
    /// again, which tells nothing.
    paired: bool,
}

impl Instance {
    fn of(attempt: &Trace) -> Self {
        let mut exposures = attempt.trajectory.exposures.iter();
        Self {
            case: whole(attempt, CaseKind::Integration),
            paired: exposures.any(|seen| seen.used),
        }
    }
}

/// The segments of what the library keeps: the turns of its attempts, and its offered skills.
fn segments(context: &Context<'_>) -> Vec<Segment> {
    let traces = context
        .library
        .traces()
        .flat_map(|trace| project(&trace.task, &trace.trajectory, trace.verdict.as_ref()));
    let offered = context.library.entries();
    let offered = offered.filter(|entry| entry.skill.state.is_offered());
    let skills = offered.map(|entry| Segment::of_skill(&entry.skill));
    traces.chain(skills).collect()
}

/// Asks for the embeddings of all segments.
pub(super) fn embed(context: &Context<'_>) -> Slots {
    if context.recipe.maintenance.refactor.is_none() {
        return Slots::default();
    }
    let texts: Vec<String> = segments(context).iter().map(Segment::text).collect();
    let ask = (!texts.is_empty()).then_some(Ask::Embed(texts));
    ask.into_iter().collect()
}

/// The best groups that no role was handed yet, each to be refactored.
pub(super) fn groups(context: &Context<'_>, slots: &Slots) -> Slots {
    match cliques(context, slots) {
        Ok(cliques) => cliques.iter().map(|clique| ask(context, clique)).collect(),
        Err(error) => {
            tracing::warn!(%error, "attempts could not be grouped");
            Slots::default()
        }
    }
}

fn cliques(context: &Context<'_>, slots: &Slots) -> Result<Vec<Clique>> {
    let Some(policy) = &context.recipe.maintenance.refactor else {
        return Ok(Vec::new());
    };
    let mut segments = segments(context);
    if let Some(embedded) = slots.embedded() {
        for (segment, embedding) in segments.iter_mut().zip(embedded) {
            segment.embedding = Some(embedding);
        }
    }
    let handed = context.library.handled();
    let handed = handed.filter_map(|text| text.strip_prefix(GROUP));
    let handed: BTreeSet<Fingerprint> = handed
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect();
    let options = CliqueOptions {
        largest: policy.members as usize,
        groups: policy.groups as usize,
        ..CliqueOptions::default()
    };
    context
        .overlaps
        .of(segments, |graph| graph.cliques(&options, &handed))
}

fn ask(context: &Context<'_>, clique: &Clique) -> Ask {
    let members: BTreeSet<&str> = clique.segments.iter().map(|id| id.as_str()).collect();
    let skills = context.library.entries().map(|entry| &entry.skill);
    let skills = skills.filter(|skill| {
        let id = Segment::id_of_skill(&skill.id);
        members.contains(id.as_str())
    });
    let skills: Vec<Skill> = skills.cloned().collect();
    Ask::Role(Box::new(RoleTask::Refactor {
        attempts: instances(context, &members, &skills),
        skills,
        reason: serde_json::to_string(&clique.purity).unwrap_or_default(),
        rules: context.library.rules(Role::Refactor).to_vec(),
        group: serde_json::to_string(&clique.fingerprint).unwrap_or_default(),
    }))
}

/// The true instances of a group: the attempts that its turns are of, and of each task that its skills were made from the
/// latest successful one that is kept. A skill alone does not tell what was its attempt's own.
fn instances(context: &Context<'_>, members: &BTreeSet<&str>, skills: &[Skill]) -> Vec<Trace> {
    let made_from = skills.iter().flat_map(|skill| &skill.provenance.tasks);
    let made_from: BTreeSet<&TaskId> = made_from.collect();
    let successes = || context.library.traces().filter(|trace| trace.is_success());
    let latest: BTreeMap<&TaskId, &AttemptId> = successes()
        .map(|trace| (&trace.task.id, &trace.trajectory.attempt))
        .collect();
    let is_instance = |trace: &&Trace| {
        let attempt = &trace.trajectory.attempt;
        let is_latest = latest.get(&trace.task.id) == Some(&attempt);
        let is_member = || {
            let segments = project(&trace.task, &trace.trajectory, trace.verdict.as_ref());
            segments
                .iter()
                .any(|segment| members.contains(segment.id.as_str()))
        };
        is_latest && made_from.contains(&trace.task.id) || is_member()
    };
    successes().filter(is_instance).cloned().collect()
}

/// The skills that came of groups, to be tried, and word of which groups were handed out.
pub(super) fn proposed(
    context: &Context<'_>,
    step: u64,
    slots: &Slots,
    events: &mut Vec<Event>,
) -> (Vec<Proposed>, Vec<LibraryChange>) {
    let mut all: Vec<Proposed> = Vec::new();
    let mut changes = Vec::new();
    for (number, (task, said)) in slots.played().enumerate() {
        let RoleTask::Refactor {
            attempts,
            skills,
            group,
            ..
        } = task
        else {
            continue;
        };
        changes.push(LibraryChange::Handled {
            fingerprint: format!("{GROUP}{group}"),
        });
        let steps = attempts.iter().flat_map(|trace| &trace.trajectory.steps);
        let taints = skills.iter().map(|skill| skill.taint);
        let drafted = Drafted {
            key: format!("{step}/refactor/{number}"),
            role: Role::Refactor,
            tasks: attempts.iter().map(|trace| trace.task.id.clone()).collect(),
            taint: taints.fold(taint_of(steps), Taint::max),
            parents: Vec::new(),
            said,
        };
        let admission = admission::decide(context, &drafted, &[]);
        let skill = admission.change.as_ref().and_then(LibraryChange::skill);
        let Some(skill) = skill.cloned() else {
            // What is there already may have them speak for it.
            let bundles = context.recipe.maintenance.bundles.as_ref();
            let same = bundles.and(admission.same.as_ref());
            let known = same.and_then(|same| context.library.get(&same.id));
            let known = known.map(|known| of_known(known, attempts, &all));
            all.extend(known);
            events.push(admission.event(step));
            continue;
        };
        let tasks: BTreeSet<&TaskId> = attempts.iter().map(|trace| &trace.task.id).collect();
        if tasks.len() < 2 {
            let title = Some(skill.name.to_string());
            let reason = "there are no attempts at two tasks to bear it out";
            events.push(Admission::refused(title, false, reason).event(step));
            continue;
        }
        all.push(Proposed {
            skill,
            admission: Some(admission),
            cases: attempts.iter().map(Instance::of).collect(),
        });
    }
    (all, changes)
}

/// A skill of the library, to be tried on the attempts of which its bundle has none. `before` are those of other groups.
fn of_known(entry: &Entry, attempts: &[Trace], before: &[Proposed]) -> Proposed {
    let before = before.iter().filter(|one| one.skill.id == entry.skill.id);
    let coming = before.flat_map(|one| one.cases.iter().map(|instance| &instance.case));
    let mut tasks = Covered::of(entry, coming);
    let tells = attempts
        .iter()
        .filter(|attempt| may_tell(entry, attempt) && tasks.take(&attempt.task.id));
    Proposed {
        skill: entry.skill.clone(),
        admission: None,
        cases: tells.map(Instance::of).collect(),
    }
}

/// Tries what was made of a group on each of its true instances.
pub(super) fn attempt(proposed: &[Proposed]) -> Slots {
    let asks = proposed.iter().flat_map(|one| {
        let ask = |skill: Option<&Skill>, instance: &Instance| Ask::Case {
            skill: skill.cloned().map(Box::new),
            case: Box::new(instance.case.clone()),
        };
        let paired = one.cases.iter().filter(|instance| instance.paired);
        let unaided = paired.map(move |instance| ask(None, instance));
        let aided = one.cases.iter();
        unaided.chain(aided.map(move |instance| ask(Some(&one.skill), instance)))
    });
    asks.collect()
}

/// What is added: what all true instances bear out, active at once where newcomers pass bundles; and to a skill that was
/// known, as cases, those that bear it out.
pub(super) fn added(
    context: &Context<'_>,
    step: u64,
    proposed: Vec<Proposed>,
    slots: &Slots,
    events: &mut Vec<Event>,
) -> Vec<LibraryChange> {
    let mut outcomes = outcomes(slots);
    let mut changes = Vec::new();
    for Proposed {
        mut skill,
        admission,
        ..
    } in proposed
    {
        let at = (outcomes.iter()).position(|(tried, _)| *tried == skill.reference());
        let Some((_, tried)) = at.map(|at| outcomes.swap_remove(at)) else {
            continue;
        };
        let borne_out = tried
            .iter()
            .map(|(case, outcome)| borne_out(&skill, case, outcome, slots));
        let Some(mut admission) = admission else {
            changes.extend(patch(&skill, borne_out.flatten().collect()));
            continue;
        };
        let cases = match borne_out.collect::<Result<Vec<BundleCase>, String>>() {
            Ok(cases) => cases,
            Err(reason) => {
                let title = admission.report.title.take();
                admission = Admission::refused(title, false, reason);
                events.push(admission.event(step));
                continue;
            }
        };
        // Several groups may come to the same; the first that is borne out stands for all.
        let mut added = changes.iter().filter_map(LibraryChange::skill);
        if added.any(|one| admission::says_the_same(one, &skill)) {
            continue;
        }
        if skill.state == State::Trial {
            skill.state = State::Active;
        }
        if let Some(change) = &mut admission.change
            && let Some(changed) = change.skill_mut()
        {
            changed.state = skill.state;
        }
        events.push(admission.event(step));
        changes.extend(admission.change);
        if context.recipe.maintenance.bundles.is_some() {
            changes.extend(patch(&skill, cases));
            changes.push(LibraryChange::Test {
                skill: skill.reference(),
                outcomes: tried.into_iter().map(|(_, outcome)| outcome).collect(),
            });
        }
    }
    changes
}

/// The case of an instance that bears a skill out: it is done with the skill at no more cost than it was, and where it was
/// played without any skill too, better than so. Else why it does not.
fn borne_out(
    skill: &Skill,
    case: &BundleCase,
    outcome: &CaseOutcome,
    slots: &Slots,
) -> Result<BundleCase, String> {
    let instance = &case.attempt;
    let not = |why: &str| format!("its instance {instance} does not bear it out: {why}");
    if let Some(why) = &outcome.failed {
        return Err(not(why));
    }
    let (Some(Ok(aided)), Some(unaided)) =
        (slots.run_of(Some(skill), case), slots.run_of(None, case))
    else {
        return Ok(case.clone());
    };
    let unaided = match unaided {
        Ok(unaided) => unaided,
        Err(error) => {
            return Err(not(&format!(
                "it could not be played without a skill: {error}"
            )));
        }
    };
    let mut case = case.clone();
    if unaided.verdict.success == Some(true) {
        if aided.refusals < unaided.refusals {
            case.refusals = case.refusals.min(unaided.refusals - 1);
        } else if aided.refusals == unaided.refusals && aided.verdict.score > unaided.verdict.score
        {
            case.least_score = aided.verdict.score;
        } else {
            return Err(not("without any skill it goes as well"));
        }
    }
    Ok(case)
}

fn patch(skill: &Skill, cases: Vec<BundleCase>) -> Option<LibraryChange> {
    (!cases.is_empty()).then(|| LibraryChange::PatchBundle {
        skill: skill.id.clone(),
        cases,
        dropped: Vec::new(),
    })
}
