//! What the story at the end is made of: one task before and after, what the gate refused, and what that would have done.

use std::cmp::Reverse;

use journeyman::{
    Result,
    contract::Journal,
    domain::{Action, Decision, NothingReason, ScoreKind, Scored, Selection, Task, Trace},
    run::{
        recorded_attempts,
        report::{RunReport, TaskReport},
    },
};
use serde_json::{Value, json};

/// Greatest number of tasks that are attempted once more with what the gate refused.
pub(crate) const MOST_WITHOUT_GATE: usize = 4;

/// An evaluation with its attempts, one for each task.
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) report: RunReport,
    pub(crate) attempts: Vec<Trace>,
}

impl Evaluated {
    /// Reads the attempts of a report from the run's journal.
    ///
    /// # Errors
    /// The journal's.
    pub(crate) async fn of(report: RunReport, journal: &dyn Journal) -> Result<Self> {
        let attempts = recorded_attempts(&journal.read(&report.run).await?)?;
        Ok(Self { report, attempts })
    }

    fn attempt(&self, task: &Task) -> Option<&Trace> {
        let mut attempts = self.attempts.iter();
        attempts.find(|attempt| attempt.task.id == task.id)
    }

    fn selection(&self, task: &Task) -> Option<&Selection> {
        let mut tasks = self.report.tasks.iter();
        tasks.find(|one| one.task == task.id)?.selections.first()
    }
}

/// A task that was done better after learning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Better<'a> {
    pub(crate) before: &'a Trace,
    pub(crate) after: &'a Trace,
    pub(crate) selection: &'a Selection,
}

impl<'a> Better<'a> {
    /// Of the tasks that were done at the first attempt with a skill, and not before, the first with the most refused calls before.
    pub(crate) fn find(before: &'a Evaluated, after: &'a Evaluated) -> Option<Self> {
        let better = after.attempts.iter().filter_map(|attempt| {
            let earlier = before.attempt(&attempt.task)?;
            let has_skill = !attempt.trajectory.injection.is_empty();
            let is_better = has_skill && is_first(attempt) && !is_first(earlier);
            let selection = after.selection(&attempt.task)?;
            is_better.then_some(Self {
                before: earlier,
                after: attempt,
                selection,
            })
        });
        let best = (0_usize..)
            .zip(better)
            .max_by_key(|(at, one)| (refused(one.before), Reverse(*at)));
        best.map(|(_, one)| one)
    }
}

/// A task at which the gate refused its best candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused<'a> {
    pub(crate) task: &'a TaskReport,
    pub(crate) best: &'a Scored,
    pub(crate) score: ScoreKind,
    /// The value that the score had to exceed.
    pub(crate) threshold: f64,
}

/// The tasks at which the gate refused its best candidate for its score, the highest score first.
pub(crate) fn refusals(after: &RunReport) -> Vec<Refused<'_>> {
    let mut refusals: Vec<Refused<'_>> = (after.tasks.iter())
        .filter_map(|task| {
            let (threshold, score) = below_absolute(task)?;
            let best = task.selections.first()?.best()?;
            Some(Refused {
                task,
                best,
                score,
                threshold,
            })
        })
        .collect();
    refusals.sort_by(|one, other| other.best.value.total_cmp(&one.best.value));
    refusals
}

/// The threshold that a task's best candidate did not exceed, and the score that was compared.
fn below_absolute(task: &TaskReport) -> Option<(f64, ScoreKind)> {
    let selection = task.selections.first()?;
    match &selection.decision {
        Decision::Nothing(NothingReason::BelowAbsolute { threshold, .. }) => {
            Some((*threshold, selection.score?))
        }
        _ => None,
    }
}

/// A task at which the gate had refused a skill, attempted with the gate and without it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ungated<'a> {
    pub(crate) with_gate: &'a Trace,
    pub(crate) without: &'a Trace,
}

impl<'a> Ungated<'a> {
    /// The attempts that had a skill for want of a gate, in their order.
    pub(crate) fn all(after: &'a Evaluated, ungated: &'a Evaluated) -> Vec<Self> {
        let attempts = ungated.attempts.iter();
        let with_skill = attempts.filter(|attempt| !attempt.trajectory.injection.is_empty());
        with_skill
            .filter_map(|without| {
                let with_gate = after.attempt(&without.task)?;
                Some(Self { with_gate, without })
            })
            .collect()
    }

    /// Whether the task was done at the first attempt with the gate, and not without it.
    pub(crate) fn is_worse(&self) -> bool {
        is_first(self.with_gate) && !is_first(self.without)
    }
}

/// Whether an attempt did the task without one refused or needless call.
pub(crate) fn is_first(attempt: &Trace) -> bool {
    let outcome = attempt.trajectory.outcome.as_ref();
    outcome.is_some_and(|outcome| outcome.parts.get("first_attempt") == Some(&1.0))
}

/// Number of steps that the world refused.
pub(crate) fn refused(attempt: &Trace) -> usize {
    let steps = attempt.trajectory.steps.iter();
    steps.filter(|step| step.result.is_error).count()
}

/// Number of calls.
pub(crate) fn calls(attempt: &Trace) -> usize {
    let calls = |action: &Action| match action {
        Action::Call(calls) => calls.len(),
        _ => 0,
    };
    let steps = attempt.trajectory.steps.iter();
    steps.map(|step| calls(&step.action)).sum()
}

/// The story for programs; `null` for a part that there is not.
pub(crate) fn object(
    better: Option<&Better<'_>>,
    refused: Option<&Refused<'_>>,
    ungated: &[Ungated<'_>],
) -> Value {
    let better = better.map(|better| {
        let best = better.selection.best();
        json!({
            "task": better.after.task.id,
            "before": of_attempt(better.before),
            "after": of_attempt(better.after),
            "skill": best.map(|best| &best.skill.id),
            "score": best.map(|best| best.value),
        })
    });
    let refused = refused.map(|refused| {
        json!({
            "task": refused.task.task,
            "skill": refused.best.skill.id,
            "score": refused.best.value,
            "threshold": refused.threshold,
        })
    });
    let worse = ungated.iter().filter(|one| one.is_worse()).count();
    json!({
        "better": better,
        "refused": refused,
        "without_gate": {"tasks": ungated.len(), "worse": worse},
    })
}

fn of_attempt(attempt: &Trace) -> Value {
    json!({
        "calls": calls(attempt),
        "refused": refused(attempt),
        "done": attempt.is_success(),
    })
}
