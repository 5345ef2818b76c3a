//! Pure functions that turn the attempts of a finished group into reports and the group's commit.

use crate::{
    domain::{
        Cause, Commit, Compaction, LibraryChange, Selection, SkillRef, SkillUse, StepNote, Task,
        Trajectory, Verdict,
    },
    error::Result,
    id::{AttemptId, CommitKey},
    policy::{Rollout, SkillCredit},
    run::{
        machine::effect::RunContext,
        report::{AttemptReport, ProxyGain, RoleTally, TaskReport, shown},
    },
    stations::{admit::admission::Admission, credit::CreditPolicy, reward},
};

/// The numbers of an attempt beside its verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// The process score.
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
    let exposures = || rollout.trajectory.iter().flat_map(|made| &made.exposures);
    let used = |skill: &SkillRef| {
        let exposure = exposures().find(|seen| seen.skill == *skill);
        exposure.map_or(SkillUse::Unknown, |seen| seen.used)
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
