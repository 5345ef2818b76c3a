//! Pure functions that turn the attempts of a finished group into reports, into what roles are asked about its skills, and into the
//! group's commit with the evidence in it.

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{
        Attribution, Candidate, Cause, Commit, Compaction, ExposureOutcome, Judgement,
        LibraryChange, Selection, SkillRef, SkillUse, State, StepNote, Taint, Task, Trace,
        Trajectory, Verdict,
    },
    error::Result,
    id::{AttemptId, CommitKey, Seed},
    policy::{Context, RoleReply, Rollout, SkillCredit},
    run::{
        machine::effect::RunContext,
        report::{AttemptReport, ProxyGain, RoleTally, TaskReport, shown},
    },
    stations::{
        admit::admission::Admission,
        credit::{Attribute, CreditPolicy},
        reward,
    },
};

/// The numbers of an attempt beside its verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) process: Option<f64>,
    /// The reward; `None` before the attempt is rewarded.
    pub(crate) reward: Option<f64>,
}

pub(crate) fn rollout<'a>(
    attempt: AttemptId,
    injected: &[SkillRef],
    made: &'a Result<Box<Trajectory>>,
    verdict: Option<&'a Result<Verdict>>,
    measured: Measured,
) -> Rollout<'a> {
    let mut report = AttemptReport {
        attempt,
        injected: injected.to_vec(),
        used: SkillUse::NotFollowed,
        success: None,
        score: 0.0,
        parts: std::collections::BTreeMap::new(),
        process: None,
        reward: None,
        steps: 0,
        usage: crate::domain::Usage::default(),
        end: None,
        unread: None,
        undecided: None,
        asked_again: 0,
        repaired: 0,
        error: None,
        compaction: Compaction::NONE,
    };
    let trajectory = match made {
        Ok(trajectory) => trajectory,
        Err(error) => {
            report.error = Some(error.clone());
            return unmade(report);
        }
    };
    tell_made(&mut report, trajectory);
    match verdict {
        Some(Ok(verdict)) => {
            report.success = verdict.success();
            report.score = verdict.score();
            report.parts = verdict.parts().clone();
            report.process = measured.process;
            report.reward = measured.reward;
        }
        Some(Err(error)) => report.error = Some(error.clone()),
        None => report.error = trajectory.fault().cloned(),
    }
    if !trajectory.is_evidence() {
        return unmade(report);
    }
    Rollout {
        report,
        trajectory: Some(trajectory),
        verdict: verdict.and_then(|verdict| verdict.as_ref().ok()),
    }
}

/// What an attempt was given, and how it went.
fn tell_made(report: &mut AttemptReport, trajectory: &Trajectory) {
    // Later turns may have had other skills than the selection for the attempt.
    let given = trajectory.injection.skills.iter().map(|had| &had.skill);
    for skill in given {
        if !report.injected.contains(skill) {
            report.injected.push(skill.clone());
        }
    }
    let left_out = |skill: &SkillRef| trajectory.left_out.iter().any(|one| one.skill == *skill);
    report.injected.retain(|skill| !left_out(skill));
    report.used = SkillUse::of_any(trajectory.exposures.iter().map(|exposure| exposure.used));
    report.steps = u32::try_from(trajectory.steps.len()).unwrap_or(u32::MAX);
    report.usage = trajectory.usage;
    report.compaction = trajectory.compaction;
    report.end = Some(trajectory.end.clone());
    report.undecided.clone_from(&trajectory.undecided);
    let count = |note: StepNote| {
        let noted = trajectory
            .steps
            .iter()
            .filter(|step| step.notes.contains(&note));
        u32::try_from(noted.count()).unwrap_or(u32::MAX)
    };
    report.asked_again = count(StepNote::AskedAgain);
    report.repaired = count(StepNote::Repaired);
    let unread = trajectory.unread.as_ref();
    report.unread = unread.map(|unread| match unread.transcript.trim() {
        "" => format!("(nothing: {})", shown(&unread.reason)),
        text => shown(text),
    });
}

/// A rollout without trajectory and verdict: it could not be made, or was ended by a part's fault or for want of context, and
/// nothing is learned from it.
fn unmade<'a>(report: AttemptReport) -> Rollout<'a> {
    Rollout {
        report,
        trajectory: None,
        verdict: None,
    }
}

pub(crate) fn task_report(
    context: &RunContext<'_>,
    step: u64,
    task: &Task,
    selections: &[Selection],
    rollouts: Vec<Rollout<'_>>,
) -> TaskReport {
    let rewards: Vec<f64> = rollouts.iter().filter_map(|r| r.report.reward).collect();
    let complete = rewards.len() == rollouts.len();
    TaskReport {
        step,
        task: task.id.clone(),
        category: task.category.clone(),
        tags: task.tags.clone(),
        selections: selections.to_vec(),
        attempts: rollouts.into_iter().map(|r| r.report).collect(),
        advantages: complete
            .then(|| reward::advantages(&rewards, reward::ADVANTAGE_EPSILON))
            .flatten(),
        written: Vec::new(),
        curation: None,
        gains: Vec::new(),
        role_usage: crate::domain::Usage::default(),
        failed_usage: crate::domain::Usage::default(),
        roles: RoleTally::default(),
        revision: context.library.revision(),
        failed: None,
    }
}

// The evidence of a group: what its attempts, and the roles that were asked about them, say of skills.

/// The judgements of skills that the attribute role gave, as changes.
pub(crate) fn attributions(replies: &[RoleReply]) -> Vec<LibraryChange> {
    let attribution = |RoleReply { task, reply }: &RoleReply| {
        let RoleTask::Attribute { attempt, skill } = task else {
            return None;
        };
        let Ok(Some(played)) = reply else { return None };
        let RoleAnswer::Credit {
            judgement,
            scope,
            reason,
        } = &played.answer
        else {
            return None;
        };
        let injected = attempt.trajectory.injection.skills.get(*skill)?;
        Some(LibraryChange::Attribute(Attribution {
            skill: injected.skill.clone(),
            attempt: attempt.trajectory.attempt.clone(),
            task: attempt.task.id.clone(),
            judgement: *judgement,
            scope: scope.clone(),
            reason: reason.clone(),
        }))
    };
    replies.iter().filter_map(attribution).collect()
}

/// The role tasks that judge the injected skills of a task's judged attempts ([`CreditPolicy::attribute`]).
pub(crate) fn asks(
    credit: &CreditPolicy,
    (seed, task): (Seed, &Task),
    rollouts: &[Rollout<'_>],
) -> Vec<RoleTask> {
    let mut asks = Vec::new();
    if !credit.attribute.asks() {
        return asks;
    }
    let judged = rollouts
        .iter()
        .filter(|rollout| rollout.report.success.is_some());
    for attempt in judged.filter_map(|rollout| trace(seed, task, rollout)) {
        let skills = 0..attempt.trajectory.injection.skills.len();
        let skills = skills.filter(|place| {
            let used = use_at(&attempt.trajectory, *place);
            credit.attribute.asks_about(used) && !another_was_followed(&attempt.trajectory, *place)
        });
        asks.extend(skills.map(|skill| RoleTask::Attribute {
            attempt: Box::new(attempt.clone()),
            skill,
        }));
    }
    asks
}

/// What the agent said of its use of a skill.
fn use_of(trajectory: &Trajectory, skill: &SkillRef) -> SkillUse {
    let mut exposures = trajectory.exposures.iter();
    let exposure = exposures.find(|exposure| exposure.skill == *skill);
    exposure.map_or(SkillUse::Unknown, |exposure| exposure.used)
}

/// The same for the injected skill at `place`.
fn use_at(trajectory: &Trajectory, place: usize) -> SkillUse {
    let injected = trajectory.injection.skills.get(place);
    injected.map_or(SkillUse::Unknown, |one| use_of(trajectory, &one.skill))
}

/// Whether the agent said that it followed another of its injected skills, and not the one at `place`.
fn another_was_followed(trajectory: &Trajectory, place: usize) -> bool {
    let mut places = 0..trajectory.injection.skills.len();
    use_at(trajectory, place) == SkillUse::NotFollowed
        && places.any(|other| use_at(trajectory, other).is_followed())
}

/// Neutral judgements of the injected skills that were not followed while another one was. No role is asked about them: the
/// other skill caused the result, and a model that is asked about a failed attempt blames every skill in it.
pub(crate) fn not_followed(
    credit: &CreditPolicy,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    if credit.attribute != Attribute::Always {
        return Vec::new();
    }
    let judged = rollouts
        .iter()
        .filter(|rollout| rollout.report.success.is_some());
    let trajectories = judged.filter_map(|rollout| rollout.trajectory);
    let judgements = trajectories.flat_map(|trajectory| {
        let places = 0..trajectory.injection.skills.len();
        let places = places.filter(|place| another_was_followed(trajectory, *place));
        places.filter_map(|place| {
            let injected = trajectory.injection.skills.get(place)?;
            Some(LibraryChange::Attribute(Attribution {
                skill: injected.skill.clone(),
                attempt: trajectory.attempt.clone(),
                task: task.id.clone(),
                judgement: Judgement::Neutral,
                scope: String::new(),
                reason: "another skill was followed".to_owned(),
            }))
        })
    });
    judgements.collect()
}

/// The trace of an attempt; `None` if the attempt has no trajectory.
pub(crate) fn trace(seed: Seed, task: &Task, rollout: &Rollout<'_>) -> Option<Trace> {
    Some(kept(seed, task, rollout.trajectory?, rollout.verdict))
}

/// The trace of a trajectory, as the library keeps it and roles are shown it.
pub(crate) fn kept(
    seed: Seed,
    task: &Task,
    trajectory: &Trajectory,
    verdict: Option<&Verdict>,
) -> Trace {
    let trace = Trace {
        task: task.clone(),
        trajectory: trajectory.clone(),
        verdict: verdict.cloned(),
        world_seed: seed.derive("world", 0),
    };
    trace.lean()
}

/// Changes that have the library keep the attempts.
pub(crate) fn observations(
    context: &Context<'_>,
    step: u64,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    let seed = context.step_seed(step);
    let traces = rollouts.iter().filter_map(|one| trace(seed, task, one));
    traces
        .map(|trace| LibraryChange::Observe(Box::new(trace)))
        .collect()
}

/// Exposures: which skills each attempt was given, and which it followed, as far as that is known (HiSME 3.3). Where
/// [`CreditPolicy::attribute`] asks a role, for all skills that were found; else for the injected skills on trial or in quarantine alone, which live attempts
/// release.
pub(crate) fn exposures(
    context: &Context<'_>,
    credit: &CreditPolicy,
    task: &Task,
    found: &[Candidate],
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    let all = credit.attribute.asks();
    let on_trial = |skill: &SkillRef| {
        let entry = context.library.get(&skill.id);
        entry.is_some_and(|entry| entry.skill.state == State::Trial || context.tries(entry))
    };
    let mut changes = Vec::new();
    for rollout in rollouts
        .iter()
        .filter(|one| all || one.trajectory.is_some())
    {
        let injected = &rollout.report.injected;
        let found = found.iter().map(|candidate| &candidate.skill);
        let others = found.filter(|skill| all && !injected.contains(skill));
        let attempt = &rollout.report.attempt;
        let outcome = rollout.report.success.map(|success| ExposureOutcome {
            task: task.id.clone(),
            success,
            refused: rollout.refused(),
        });
        let injected = injected.iter().filter(|skill| all || on_trial(skill));
        changes.extend(injected.map(|skill| {
            // An attempt that was not made followed nothing.
            let used = rollout
                .trajectory
                .map_or(SkillUse::NotFollowed, |trajectory| {
                    use_of(trajectory, skill)
                });
            // Where nothing can be replayed, a refined version is compared with how the version before did.
            let counts = on_trial(skill) || !context.replays;
            let outcome = outcome.clone().filter(|_| counts);
            expose(skill, attempt, (true, used), outcome)
        }));
        changes.extend(
            others.map(|skill| expose(skill, attempt, (false, SkillUse::NotFollowed), None)),
        );
    }
    changes
}

fn expose(
    skill: &SkillRef,
    attempt: &AttemptId,
    (injected, used): (bool, SkillUse),
    outcome: Option<ExposureOutcome>,
) -> LibraryChange {
    LibraryChange::Expose {
        skill: skill.clone(),
        attempt: attempt.clone(),
        injected,
        used,
        outcome,
    }
}

/// The taint of a skill that is written from the rollouts at these places (J7).
pub(crate) fn taint(sources: &[usize], rollouts: &[Rollout<'_>]) -> Taint {
    let sources = sources.iter();
    let shown = sources.filter_map(|place| rollouts.get(*place)?.trajectory);
    shown.map(Trajectory::taint).max().unwrap_or_default()
}

// The commit of a group.

/// The commit of a task. The order of its changes is fixed (ARISE C.3): credits (Update), then admissions (Add), then
/// maintenance of the tiers (Evict, Load, Delete). `evidence` has changes that move no skill between tiers, such as judgements
/// and traces; they come before the admissions.
pub(crate) fn commit(
    context: &RunContext<'_>,
    step: u64,
    task: &Task,
    evidence: Vec<LibraryChange>,
    credits: &[SkillCredit],
    admissions: &[Admission],
) -> Commit {
    let recipe = context.recipe;
    let mut changes = Vec::new();
    if *context.library.policy() != recipe.tiers {
        changes.push(LibraryChange::Configure(recipe.tiers.clone()));
    }
    changes.extend(credits.iter().map(credited));
    changes.extend(evidence);
    changes.extend(admissions.iter().filter_map(|one| one.change.clone()));
    changes.push(LibraryChange::Maintain);
    Commit {
        base: context.library.revision(),
        key: CommitKey::new(format!("{}/{step}", context.run)),
        cause: Cause {
            run: Some(context.run.clone()),
            task: Some(task.id.clone()),
            reason: "a task was learned from".to_owned(),
            at: None,
        },
        changes,
    }
}

/// The injected skills of an attempt that get credit for it.
pub(crate) fn credited_skills(policy: &CreditPolicy, rollout: &Rollout<'_>) -> Vec<SkillRef> {
    let used = |skill: &SkillRef| {
        let made = rollout.trajectory;
        made.map_or(SkillUse::Unknown, |made| use_of(made, skill))
    };
    let injected = rollout.report.injected.iter();
    injected
        .filter(|skill| policy.used_when.counts_injected(used(skill)))
        .cloned()
        .collect()
}

fn credited(credit: &SkillCredit) -> LibraryChange {
    LibraryChange::Credit {
        skill: credit.skill.clone(),
        attempt: credit.attempt.clone(),
        reward: credit.reward,
        uses: credit.uses,
    }
}

/// Counts the judged attempts at a task.
pub(crate) fn count_gain(gain: &mut ProxyGain, report: &TaskReport) {
    for attempt in &report.attempts {
        if let (Some(reward), Some(success)) = (attempt.reward, attempt.success) {
            // A recipe's rewards are validated when it is; a reward that is not finite nevertheless is ignored.
            if let Err(error) = gain.record(&attempt.injected, reward, success) {
                tracing::error!(%error, "an attempt could not be counted");
            }
        }
    }
}
