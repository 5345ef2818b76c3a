//! Decides whether a skill is written from a group of attempts, and from which of them (ARISE D.1, C.3; HiSME 3.2).

use super::{Recovered, WINDOW, WritePolicy, WriteWhen, level_at_like_tasks, note_words};
use crate::{
    domain::{AttemptNote, LibraryChange, Mode, Task},
    policy::{Context, Rollout, WriteProgram},
    run::report::EventKind,
    stations::reward,
};

/// Why no skill is written.
pub(crate) struct Undue {
    reason: String,
    /// Whether it is that the agent does too well for the recipe's bound.
    above: bool,
}

impl Undue {
    pub(crate) fn event(self) -> EventKind {
        EventKind::NotDue {
            reason: self.reason,
            above: self.above,
        }
    }

    fn of(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            above: false,
        }
    }
}

/// The places of the rollouts that a skill is written from, best first; else the reason why none is written.
pub(crate) fn sources(
    context: &Context<'_>,
    (policy, writer): (&WritePolicy, &dyn WriteProgram),
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Result<Vec<usize>, Undue> {
    let judged = judged(rollouts);
    match policy.when {
        WriteWhen::Never => return Err(Undue::of("the recipe writes none")),
        WriteWhen::Always => {}
        WriteWhen::Below(bound) => falls_short(context, policy, (task, rollouts), bound)?,
    }
    let rewards: Vec<f64> = judged.iter().map(|(_, reward, _)| *reward).collect();
    let successes: Vec<bool> = judged
        .iter()
        .map(|(rollout, ..)| rollout.report.success == Some(true))
        .collect();
    let mut best = reward::positive_traces(&rewards, &successes);
    if best.is_empty() && writer.takes_failures() {
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
    if best.is_empty() && writer.takes_undecided() {
        let mut made = (0..).zip(rollouts);
        let undecided = made.find(|(_, one)| one.trajectory.is_some());
        best.extend(undecided.map(|(place, _)| place));
    }
    best.truncate(writer.most_attempts());
    match best.is_empty() {
        true => Err(Undue::of(
            "no attempt was done that it could be written from",
        )),
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
/// it is the group's mean. A smaller group is averaged with the latest attempts at similar tasks, and must have something new:
/// a success with a skill and without a refusal shows only what the library already has. In both an attempt with a refusal
/// counts as the policy says.
fn falls_short(
    context: &Context<'_>,
    policy: &WritePolicy,
    (task, rollouts): (&Task, &[Rollout<'_>]),
    bound: f64,
) -> Result<(), Undue> {
    let counted = match policy.recovered {
        Recovered::AsFailed => ", where one with a refusal counts as 0",
        Recovered::AsJudged => "",
    };
    let above = |reason: String| Undue {
        reason: format!("{reason}{counted}, and the recipe writes below {bound}"),
        above: true,
    };
    if context.group as usize >= WINDOW {
        let judged = judged(rollouts);
        if judged.is_empty() {
            return Err(Undue::of("no attempt has a verdict"));
        }
        let level = |one: &Rollout<'_>| policy.recovered.level(one.report.score, one.refused());
        let sum: f64 = judged.iter().map(|(one, ..)| level(one)).sum();
        let mean = sum / (judged.len().max(1) as f64);
        return match mean < bound {
            true => Ok(()),
            false => Err(above(format!(
                "the mean score of its {} attempts is {mean:.2}",
                judged.len()
            ))),
        };
    }
    let done = |one: &Rollout<'_>| one.report.success == Some(true);
    let is_new = |one: &Rollout<'_>| one.report.injected.is_empty() || one.refused() > 0;
    if !rollouts.iter().any(done) {
        return Err(Undue::of(
            "no attempt was done that it could be written from",
        ));
    }
    if !rollouts.iter().any(|one| done(one) && is_new(one)) {
        return Err(Undue::of(
            "it was done with a skill and without a refusal, so there is nothing new",
        ));
    }
    let own = own_notes(task, rollouts);
    match level_at_like_tasks(task, &own, context.library.notes(), policy.recovered) {
        Some(level) if level < bound => Ok(()),
        Some(level) => Err(above(format!(
            "of the latest {WINDOW} attempts at like tasks the mean score is {level:.2}"
        ))),
        None => Err(Undue::of("no attempt has a verdict")),
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
