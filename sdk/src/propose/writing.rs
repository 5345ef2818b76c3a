//! Decides whether a skill is written from a group of attempts, and from which of them (ARISE D.1, C.3; HiSME 3.2).

use super::{WINDOW, WritePolicy, WriteWhen, Writer, level_at_like_tasks, note_words};
use crate::{
    domain::{AttemptNote, LibraryChange, Mode, Task},
    policy::{Context, Rollout},
    reward,
};

/// The greatest number of attempts that a skill is written from (ARISE D.1).
const MAX_TRACES: usize = 2;

/// The places of the rollouts that a skill is written from, best first; else the reason why none is written.
pub(crate) fn sources(
    context: &Context<'_>,
    policy: &WritePolicy,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Result<Vec<usize>, String> {
    let judged = judged(rollouts);
    match policy.when {
        WriteWhen::Never => return Err("the recipe writes none".to_owned()),
        WriteWhen::Always => {}
        WriteWhen::Below(bound) => falls_short(context, task, rollouts, bound)?,
    }
    let rewards: Vec<f64> = judged.iter().map(|(_, reward, _)| *reward).collect();
    let successes: Vec<bool> = judged
        .iter()
        .map(|(rollout, ..)| rollout.report.success == Some(true))
        .collect();
    let mut best = reward::positive_traces(&rewards, &successes);
    if best.is_empty() && policy.by.takes_failures() {
        best = (0..judged.len()).collect();
    }
    // Of equal rewards the one with the greater verdict score is preferred.
    best.sort_by(|a, b| {
        let score = |i: &usize| judged[*i].0.report.score;
        rewards[*b]
            .total_cmp(&rewards[*a])
            .then(score(b).total_cmp(&score(a)))
            .then(a.cmp(b))
    });
    let mut best: Vec<usize> = best.into_iter().map(|i| judged[i].2).collect();
    if matches!(policy.by, Writer::Curate { .. }) {
        // The curator learns from one attempt, also from one that nobody could judge.
        let mut made = (0..).zip(rollouts);
        let undecided = made.find(|(_, one)| one.trajectory.is_some());
        best.extend(undecided.map(|(place, _)| place));
        best.truncate(1);
    }
    best.truncate(MAX_TRACES);
    match best.is_empty() {
        true => Err("no attempt was done that it could be written from".to_owned()),
        false => Ok(best),
    }
}

/// The rollouts that have a trajectory and a reward, each with its reward and its place.
fn judged<'a, 'b>(rollouts: &'b [Rollout<'a>]) -> Vec<(&'b Rollout<'a>, f64, usize)> {
    let made = (0..)
        .zip(rollouts)
        .filter(|(_, one)| one.trajectory.is_some());
    made.filter_map(|(place, one)| Some((one, one.report.reward?, place)))
        .collect()
}

/// `Ok` if the agent's mean score is below the bound; else the reason why it is not. For a group of [`WINDOW`] attempts or more
/// it is the group's mean. A smaller group is averaged with the latest attempts at similar tasks, where a success after a
/// refusal counts as 0, and the group must have something new: a success with a skill and without a refusal shows only
/// what the library already has.
fn falls_short(
    context: &Context<'_>,
    task: &Task,
    rollouts: &[Rollout<'_>],
    bound: f64,
) -> Result<(), String> {
    if context.group as usize >= WINDOW {
        let judged = judged(rollouts);
        if judged.is_empty() {
            return Err("no attempt has a verdict".to_owned());
        }
        let sum: f64 = judged.iter().map(|(one, ..)| one.report.score).sum();
        let mean = sum / (judged.len().max(1) as f64);
        return match mean < bound {
            true => Ok(()),
            false => Err(format!(
                "the mean score of its {} attempts is {mean:.2}, and the recipe writes below {bound}",
                judged.len()
            )),
        };
    }
    let done = |one: &Rollout<'_>| one.report.success == Some(true);
    let is_new = |one: &Rollout<'_>| one.report.injected.is_empty() || one.refused() > 0;
    if !rollouts.iter().any(done) {
        return Err("no attempt was done that it could be written from".to_owned());
    }
    if !rollouts.iter().any(|one| done(one) && is_new(one)) {
        return Err(
            "it was done with a skill and without a refusal, so there is nothing new".to_owned(),
        );
    }
    let own = own_notes(task, rollouts);
    match level_at_like_tasks(task, &own, context.library.notes()) {
        Some(level) if level < bound => Ok(()),
        Some(level) => Err(format!(
            "of the latest {WINDOW} attempts at like tasks the mean score is {level:.2}, where one with a refusal counts as \
             0, and the recipe writes below {bound}"
        )),
        None => Err("no attempt has a verdict".to_owned()),
    }
}

/// Notes of a small group's attempts for the library, if the recipe's writing rule averages over earlier attempts.
pub(crate) fn notes(
    context: &Context<'_>,
    policy: &WritePolicy,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    let looks_back = matches!(policy.when, WriteWhen::Below(_));
    let small = (context.group as usize) < WINDOW;
    if context.mode != Mode::Train || !looks_back || !small {
        return Vec::new();
    }
    let notes = own_notes(task, rollouts).into_iter();
    notes.map(LibraryChange::Note).collect()
}

fn own_notes(task: &Task, rollouts: &[Rollout<'_>]) -> Vec<AttemptNote> {
    let words = note_words(task);
    let judged = judged(rollouts).into_iter();
    judged
        .map(|(rollout, ..)| AttemptNote {
            attempt: rollout.report.attempt.clone(),
            category: task.category.clone(),
            words: words.clone(),
            score: rollout.report.score,
            refused: rollout.refused(),
        })
        .collect()
}
