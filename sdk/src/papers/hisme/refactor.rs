//! Refactoring: groups overlapping attempts and skills, has a role write the skill that a group shares, and decides from the
//! group's true instances whether it is added (HiSME 3.2, appendix C, algorithm 3; rows H2, H3).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    contract::{Embedding, RoleTask},
    domain::{LibraryChange, Role, Skill, SkillRef, SkillUse, State, Trace},
    error::Result,
    id::{AttemptId, TaskId},
    library::Entry,
    papers::hisme::{
        Clique, Fingerprint, MacroPolicy, OverlapGraph, Segment,
        overlaps::Overlaps,
        project,
        refactor::instances::{Instance, InstanceOutcome, Trials, instances_of},
    },
    policy::{Case, Played, PlayedCase, RoleReply},
    run::report::{EventKind, WriteReport},
    stations::{
        admit::{
            Terms,
            admission::{self, Admission},
            draft::DraftSources,
            identity::{Compared, Meanings},
        },
        maintain::{
            MaintenanceContext,
            cases::can_confirm,
            outcomes::is_temporary,
            retries::{handled, missed},
            support::{Covered, use_of},
        },
    },
};

mod instances;

pub(crate) use crate::papers::hisme::refactor::instances::most_trials;

/// The prefix of the fingerprints of groups among the handled ones.
const GROUP: &str = "group/";

/// A group whose skill is to be tried on the group's true instances.
#[derive(Clone, Debug)]
pub(crate) struct GroupTrial {
    skill: Skill,
    /// What was decided about a new skill, which enters if its instances confirm it; `None` if the library has the skill already.
    report: Option<WriteReport>,
    cases: Vec<Instance>,
    /// The fingerprint of the group.
    group: String,
    /// The terms of the attempts that a new skill was written from, by which it is compared with those of other groups.
    terms: Terms,
}

/// The segments of the library: the turns of its kept attempts, and its offered skills.
fn segments(context: &MaintenanceContext<'_, MacroPolicy>) -> Vec<Segment> {
    let traces = context.library.traces().flat_map(|trace| {
        let mut segments = project(&trace.task, &trace.trajectory, trace.verdict.as_ref());
        // A judgement may settle that the attempt did not follow a skill.
        let is_followed = |skill: &SkillRef| {
            use_of(context.library, &trace.trajectory, skill) != SkillUse::NotFollowed
        };
        for segment in &mut segments {
            segment.skills.retain(is_followed);
        }
        segments
    });
    let offered = context.library.entries();
    let offered = offered.filter(|entry| entry.skill.state.is_offered());
    let skills = offered.map(|entry| Segment::of_skill(&entry.skill));
    traces.chain(skills).collect()
}

/// The texts of all segments, to be embedded.
pub(crate) fn texts(context: &MaintenanceContext<'_, MacroPolicy>) -> Vec<String> {
    if context.policy.refactor.is_none() {
        return Vec::new();
    }
    segments(context).iter().map(Segment::text).collect()
}

/// The refactorer's tasks: the best groups that are not handled yet. Skill-revision groups about which it need not be asked, since no
/// successful attempt could confirm what it writes, are marked as handled by the changes.
pub(crate) fn groups(
    context: &MaintenanceContext<'_, MacroPolicy>,
    overlaps: &Overlaps,
    embeddings: Option<Vec<Embedding>>,
) -> (Vec<RoleTask>, Vec<LibraryChange>) {
    let cliques = cliques(context, overlaps, embeddings).unwrap_or_else(|error| {
        tracing::warn!(%error, "attempts could not be grouped");
        Vec::new()
    });
    let (mut tasks, mut changes) = (Vec::new(), Vec::new());
    for clique in &cliques {
        let task = task(context, clique);
        if clique.revises.is_some() && !shows_success(&task) {
            changes.push(handled(&format!("{GROUP}{}", fingerprint(clique))));
        } else {
            tasks.push(task);
        }
    }
    (tasks, changes)
}

fn shows_success(task: &RoleTask) -> bool {
    match task {
        RoleTask::Refactor { attempts, .. } => attempts.iter().any(Trace::is_success),
        _ => false,
    }
}

fn fingerprint(clique: &Clique) -> String {
    serde_json::to_string(&clique.fingerprint).unwrap_or_default()
}

fn cliques(
    context: &MaintenanceContext<'_, MacroPolicy>,
    overlaps: &Overlaps,
    embeddings: Option<Vec<Embedding>>,
) -> Result<Vec<Clique>> {
    let Some(policy) = &context.policy.refactor else {
        return Ok(Vec::new());
    };
    let mut segments = segments(context);
    for (segment, embedding) in segments.iter_mut().zip(embeddings.into_iter().flatten()) {
        segment.embedding = Some(embedding);
    }
    let handed = context.library.handled();
    // A group that was missed is found again.
    let handed = handed.filter(|mark| mark.miss.is_none());
    let handed = handed.filter_map(|mark| mark.subject.strip_prefix(GROUP));
    let handed: BTreeSet<Fingerprint> = handed
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect();
    let read = |graph: &OverlapGraph| graph.cliques(&policy.cliques(), &handed);
    overlaps.of(policy.overlap, segments, read)
}

fn task(context: &MaintenanceContext<'_, MacroPolicy>, clique: &Clique) -> RoleTask {
    let members: BTreeSet<&str> = clique.segments.iter().map(|id| id.as_str()).collect();
    let skills = context.library.entries().map(|entry| &entry.skill);
    let skills = skills.filter(|skill| {
        let id = Segment::id_of_skill(&skill.id);
        members.contains(id.as_str())
    });
    let skills: Vec<Skill> = skills.cloned().collect();
    RoleTask::Refactor {
        attempts: shown(context, &members, &skills, clique.revises.is_some()),
        skills,
        reason: serde_json::to_string(&clique.purity).unwrap_or_default(),
        rules: context.library.rules(Role::Refactor).to_vec(),
        group: fingerprint(clique),
    }
}

/// The attempts that the refactorer is shown: the true instances of a group, which are the successful attempts of its turns, and
/// the latest kept successful attempt at each task that its skills were written from. A skill alone does not show what only its
/// attempt needed. Of a group that revises a skill the failed attempts come first, since a prompt has the first ones.
fn shown(
    context: &MaintenanceContext<'_, MacroPolicy>,
    members: &BTreeSet<&str>,
    skills: &[Skill],
    revises: bool,
) -> Vec<Trace> {
    let made_from = skills.iter().flat_map(|skill| &skill.provenance.tasks);
    let made_from: BTreeSet<&TaskId> = made_from.collect();
    let successes = context.library.traces().filter(|trace| trace.is_success());
    let latest: BTreeMap<&TaskId, &AttemptId> = successes
        .map(|trace| (&trace.task.id, &trace.trajectory.attempt))
        .collect();
    let is_shown = |trace: &&Trace| {
        let attempt = &trace.trajectory.attempt;
        let is_latest = latest.get(&trace.task.id) == Some(&attempt);
        let is_member = || {
            let segments = project(&trace.task, &trace.trajectory, trace.verdict.as_ref());
            segments
                .iter()
                .any(|segment| members.contains(segment.id.as_str()))
        };
        match trace.is_success() {
            true => is_latest && made_from.contains(&trace.task.id) || is_member(),
            false => revises && is_member(),
        }
    };
    let traces = context.library.traces().filter(is_shown);
    let mut traces: Vec<Trace> = traces.cloned().collect();
    traces.sort_by_key(Trace::is_success);
    traces
}

/// The skills that were written for groups, to be tried, and the changes that mark the other groups as handled or missed.
pub(crate) fn proposed(
    context: &MaintenanceContext<'_, MacroPolicy>,
    step: u64,
    (replies, meanings): (&[RoleReply], &Meanings),
    events: &mut Vec<EventKind>,
) -> (Vec<GroupTrial>, Vec<LibraryChange>) {
    let mut all: Vec<GroupTrial> = Vec::new();
    let mut changes = Vec::new();
    for (number, RoleReply { task, reply }) in replies.iter().enumerate() {
        let RoleTask::Refactor {
            attempts,
            skills,
            group,
            reason,
            ..
        } = task
        else {
            continue;
        };
        let shown = attempts
            .iter()
            .map(|trace| trace.trajectory.attempt.clone());
        events.push(EventKind::Grouped {
            attempts: shown.collect(),
            skills: skills.iter().map(|skill| skill.id.clone()).collect(),
            reason: reason.clone(),
        });
        let group = format!("{GROUP}{group}");
        // After a temporary error the group is given out again; after an unreadable answer it is not.
        if reply.as_ref().is_err_and(is_temporary) {
            let (count, attempts) = (attempts.len(), attempts.iter());
            let shown = attempts.map(|trace| trace.trajectory.attempt.as_str());
            let shown: Vec<&str> = shown.collect();
            let what = format!("refactoring {count} attempts ({})", shown.join(", "));
            changes.push(missed(context, &what, &group, events));
            continue;
        }
        let taints = skills.iter().map(|skill| skill.taint);
        let taints = taints.chain(attempts.iter().map(Trace::taint));
        // What is written is to do what succeeded. Tasks that failed can confirm it later.
        let sources = attempts.iter().filter(|trace| trace.is_success());
        let draft_sources = DraftSources {
            key: format!("{step}/refactor/{number}"),
            role: Role::Refactor,
            tasks: sources.map(|trace| trace.task.id.clone()).collect(),
            taint: taints.max().unwrap_or_default(),
            parents: Vec::new(),
            terms: Terms::of(attempts),
            meanings,
        };
        match propose(context, (&draft_sources, reply), attempts, group, events) {
            Ok(trial) => all.push(trial),
            Err(group) => changes.push(handled(&group)),
        }
    }
    (all, changes)
}

/// The skill of a group, to be tried.
///
/// # Errors
/// The group's fingerprint, if there is nothing to try.
fn propose(
    context: &MaintenanceContext<'_, MacroPolicy>,
    (sources, reply): (&DraftSources<'_>, &Result<Option<Played>>),
    attempts: &[Trace],
    group: String,
    events: &mut Vec<EventKind>,
) -> std::result::Result<GroupTrial, String> {
    let admission = admission::decide(context, &context.standing.admit, (sources, reply), &[]);
    let skill = admission.change.as_ref().and_then(LibraryChange::skill);
    let Some(skill) = skill.cloned() else {
        // The instances may confirm a skill that the library has already.
        let same = admission.same().filter(|_| context.plays_cases());
        let Some(known) = same.and_then(|same| context.library.get(&same.id)) else {
            events.extend(admission.event());
            return Err(group);
        };
        return Ok(of_known_skill(context, known, attempts, group));
    };
    let confirming = attempts.iter().filter(|trace| trace.is_success());
    let tasks: BTreeSet<&TaskId> = confirming.map(|trace| &trace.task.id).collect();
    // Only a skill-revision group is shown failed attempts, with at least one successful attempt. The paper exempts it from two tasks.
    let needs_two_tasks = attempts.iter().all(Trace::is_success);
    if needs_two_tasks && tasks.len() < 2 {
        let title = Some(skill.name.to_string());
        let reason = "there are no attempts at two tasks to confirm it";
        events.extend(Admission::refused(title, false, reason).event());
        return Err(group);
    }
    Ok(GroupTrial {
        skill,
        report: Some(admission.report),
        cases: instances_of(context, attempts.iter()),
        group,
        terms: sources.terms.clone(),
    })
}

/// A skill of the library, to be tried on the attempts that can confirm it: first those that followed no skill, which are
/// stronger evidence.
fn of_known_skill(
    context: &MaintenanceContext<'_, MacroPolicy>,
    entry: &Entry,
    attempts: &[Trace],
    group: String,
) -> GroupTrial {
    let tasks = Covered::of(entry, []);
    let confirming = attempts
        .iter()
        .filter(|attempt| can_confirm(context, entry, attempt) && tasks.lacks(&attempt.task.id));
    let mut cases = instances_of(context, confirming);
    cases.sort_by_key(|instance| instance.paired);
    GroupTrial {
        skill: entry.skill.clone(),
        report: None,
        cases,
        group,
        terms: Terms::default(),
    }
}

/// The true instances of each group, to be played with the group's skill, and paired ones without any skill as well.
pub(crate) fn trial_cases(trials: &[GroupTrial]) -> Vec<Case> {
    let cases = trials.iter().flat_map(|one| {
        one.cases.iter().flat_map(|instance| {
            let case = |skill: Option<&Skill>| Case {
                skill: skill.cloned().map(Box::new),
                beside: Vec::new(),
                case: Box::new(instance.case.clone()),
            };
            let unaided = instance.paired.then(|| case(None));
            unaided.into_iter().chain([case(Some(&one.skill))])
        })
    });
    cases.collect()
}

/// The changes after the trials: a new skill that all true instances confirm is added, active instead of on trial; a known
/// skill gets the instances that decide something as cases. Where nothing can be replayed, a new skill is added on trial.
pub(crate) fn added(
    context: &MaintenanceContext<'_, MacroPolicy>,
    (trials, meanings): (Vec<GroupTrial>, &Meanings),
    runs: &[PlayedCase],
    events: &mut Vec<EventKind>,
) -> Vec<LibraryChange> {
    let mut runs = runs.iter().map(|ran| &ran.run);
    let mut changes = Vec::new();
    for trial in trials {
        let (mut skill, group) = (trial.skill, trial.group);
        let tried = Trials::of(trial.cases, &mut runs);
        // A group that met a temporary error is found again.
        changes.push(match tried.temporary {
            true => {
                let what = format!("{}: trying it on its instances", skill.name);
                missed(context, &what, &group, events)
            }
            false => handled(&group),
        });
        let objection = tried.objection;
        let Some(report) = trial.report else {
            let known = || "the library has it already".to_owned();
            events.push(EventKind::Refused {
                reason: format!("{}: {}", skill.name, objection.unwrap_or_else(known)),
            });
            changes.extend(patch_known(context, &skill, tried.instances, &changes));
            continue;
        };
        if let Some(reason) = objection {
            events.extend(Admission::refused(report.title, false, reason).event());
            continue;
        }
        // Several groups may have the same skill; the first one that is confirmed is added.
        let mut added = changes.iter().filter_map(LibraryChange::skill);
        let identity = &context.standing.admit.identity;
        let compared = Compared::of_skill(&skill, trial.terms);
        if added.any(|one| {
            let known = (context.context.library, one);
            compared.same(identity, meanings, known).is_some()
        }) {
            continue;
        }
        skill.state = state_of(skill.state, context.replays);
        let version = skill.reference();
        let admission = Admission::entering(Box::new(skill), report);
        events.extend(admission.event());
        changes.extend(admission.change);
        if context.plays_cases() {
            let cases = tried.instances.into_iter().filter_map(|one| match one {
                InstanceOutcome::Passes(case) => Some(case),
                InstanceOutcome::Fails(..) | InstanceOutcome::Undecided(_) => None,
            });
            changes.push(LibraryChange::PatchBundle {
                skill: version.id.clone(),
                cases: cases.collect(),
                dropped: Vec::new(),
            });
            changes.push(LibraryChange::Test {
                skill: version,
                outcomes: tried.outcomes,
            });
        }
    }
    changes
}

/// The state of a new skill that its instances confirmed or, where nothing can be replayed, could not be tried on.
fn state_of(state: State, replays: bool) -> State {
    match (state, replays) {
        (State::Trial, true) => State::Active,
        (State::Active, false) => State::Trial,
        (state, _) => state,
    }
}

/// The cases that are added to a known skill, also those that it fails, which block its release.
fn patch_known(
    context: &MaintenanceContext<'_, MacroPolicy>,
    skill: &Skill,
    instances: Vec<InstanceOutcome>,
    before: &[LibraryChange],
) -> Option<LibraryChange> {
    let entry = context.library.get(&skill.id)?;
    let coming = before.iter().flat_map(|change| match change {
        LibraryChange::PatchBundle { skill, cases, .. } if *skill == entry.skill.id => cases,
        _ => &[][..],
    });
    let mut tasks = Covered::of(entry, coming);
    let mut cases = Vec::new();
    for instance in instances {
        match instance {
            InstanceOutcome::Passes(case) | InstanceOutcome::Fails(case, _)
                if tasks.insert(&case.task.id) =>
            {
                cases.push(case);
            }
            InstanceOutcome::Passes(_)
            | InstanceOutcome::Fails(..)
            | InstanceOutcome::Undecided(_) => {}
        }
    }
    (!cases.is_empty()).then(|| LibraryChange::PatchBundle {
        skill: skill.id.clone(),
        cases,
        dropped: Vec::new(),
    })
}
