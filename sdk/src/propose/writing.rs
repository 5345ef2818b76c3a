//! When a skill is written from a group of attempts, and from which of them.

use super::{WINDOW, WritePolicy, WriteWhen, level_at_like_tasks, note_words};
use crate::{
    domain::{AttemptNote, LibraryChange, Mode, Task},
    policy::{Context, Rollout},
    reward,
};

/// The greatest number of traces that a skill is written from (ARISE D.1).
const MAX_TRACES: usize = 2;

/// The places of the rollouts that a skill is to be written from, the best first; none when no skill is due.
pub(crate) fn sources(
    context: &Context<'_>,
    policy: &WritePolicy,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Vec<usize> {
    let judged = judged(rollouts);
    let due = match policy.when {
        WriteWhen::Never => false,
        WriteWhen::Always => true,
        WriteWhen::Below(bound) => is_short(context, task, rollouts, bound),
    };
    if !due {
        return Vec::new();
    }
    let rewards: Vec<f64> = judged.iter().map(|(_, reward, _)| *reward).collect();
    let successes: Vec<bool> = judged
        .iter()
        .map(|(rollout, ..)| rollout.report.success == Some(true))
        .collect();
    let mut best = reward::positive_traces(&rewards, &successes);
    // Among equal rewards the better verdict is the better lesson.
    best.sort_by(|a, b| {
        let score = |i: &usize| judged[*i].0.report.score;
        rewards[*b]
            .total_cmp(&rewards[*a])
            .then(score(b).total_cmp(&score(a)))
            .then(a.cmp(b))
    });
    best.into_iter()
        .take(MAX_TRACES)
        .map(|i| judged[i].2)
        .collect()
}

/// The rollouts that were made and have a reward, each with that and its place.
fn judged<'a, 'b>(rollouts: &'b [Rollout<'a>]) -> Vec<(&'b Rollout<'a>, f64, usize)> {
    let made = (0..)
        .zip(rollouts)
        .filter(|(_, one)| one.trajectory.is_some());
    made.filter_map(|(place, one)| Some((one, one.report.reward?, place)))
        .collect()
}

/// Whether the agent falls short of a bound. A group of [`WINDOW`] attempts or more tells by its mean score. A smaller one is
/// seen together with the latest attempts at like tasks, an attempt that got there only after it was refused counts as
/// none, and there must be something to learn in it: an attempt that was done with a skill and without a refusal shows
/// what the library has already.
fn is_short(context: &Context<'_>, task: &Task, rollouts: &[Rollout<'_>], bound: f64) -> bool {
    if context.group as usize >= WINDOW {
        let judged = judged(rollouts);
        let sum: f64 = judged.iter().map(|(one, ..)| one.report.score).sum();
        return sum / (judged.len().max(1) as f64) < bound;
    }
    let shows = |one: &Rollout<'_>| one.report.injected.is_empty() || one.refused() > 0;
    let new = rollouts
        .iter()
        .any(|one| one.report.success == Some(true) && shows(one));
    let own = own_notes(task, rollouts);
    let level = level_at_like_tasks(task, &own, context.library.notes());
    new && level.is_some_and(|level| level < bound)
}

/// What the library is to remember of a small group's attempts, where the recipe's writing rule looks back.
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
