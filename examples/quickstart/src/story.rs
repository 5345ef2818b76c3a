//! What the story at the end is made of: one task before and after, what the gate refused, and what that would have done.

use std::cmp::Reverse;

use journeyman::{
    Result,
    contract::Journal,
    domain::{Action, Decision, NothingReason, Scored, Selection, Step, Task, ToolCall, Trace},
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

    /// The skill that was given, with its score, where it was scored.
    pub(crate) fn given(&self) -> Option<&'a Scored> {
        let skill = self.selection.skill()?;
        let mut candidates = self.selection.candidates.iter();
        candidates.find(|one| one.skill == *skill)
    }
}

/// A task at which the gate refused its best candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused<'a> {
    pub(crate) task: &'a TaskReport,
    pub(crate) selection: &'a Selection,
    pub(crate) best: &'a Scored,
    /// The value that the score had to exceed.
    pub(crate) threshold: f64,
}

/// The tasks at which the gate refused its best candidate for its score, the highest score first.
pub(crate) fn refusals(after: &RunReport) -> Vec<Refused<'_>> {
    let mut refusals: Vec<Refused<'_>> = (after.tasks.iter())
        .filter_map(|task| {
            let selection = task.selections.first()?;
            Some(Refused {
                task,
                selection,
                best: selection.best()?,
                threshold: below_absolute(selection)?,
            })
        })
        .collect();
    refusals.sort_by(|one, other| other.best.value.total_cmp(&one.best.value));
    refusals
}

/// The threshold that the best candidate did not exceed.
fn below_absolute(selection: &Selection) -> Option<f64> {
    match &selection.decision {
        Decision::Nothing(NothingReason::BelowAbsolute { threshold, .. }) => Some(*threshold),
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
    /// The attempts that had the skill that the gate had refused, in their order. Without its gate a selector may choose another.
    pub(crate) fn all(after: &'a Evaluated, ungated: &'a Evaluated) -> Vec<Self> {
        let refusals = refusals(&after.report);
        let attempts = ungated.attempts.iter();
        attempts
            .filter_map(|without| {
                let mut refusals = refusals.iter();
                let refused = refusals.find(|one| one.task.task == without.task.id)?;
                let given = without.trajectory.injection.skills.first()?;
                let with_gate = after.attempt(&without.task)?;
                (given.skill == refused.best.skill).then_some(Self { with_gate, without })
            })
            .collect()
    }

    /// Whether the task went worse without the gate: it was not done, or not at the first attempt any more.
    pub(crate) fn is_worse(&self) -> bool {
        how_well(self.without) < how_well(self.with_gate)
    }

    /// Whether it went better.
    pub(crate) fn is_better(&self) -> bool {
        how_well(self.without) > how_well(self.with_gate)
    }
}

/// How well a task was done, by order: done at the first attempt, done, not done.
fn how_well(attempt: &Trace) -> (bool, bool) {
    (is_first(attempt), attempt.is_success())
}

/// Whether an attempt did the task without one refused or needless call.
pub(crate) fn is_first(attempt: &Trace) -> bool {
    let outcome = attempt.trajectory.outcome.as_ref();
    outcome.is_some_and(|outcome| outcome.parts.get("first_attempt") == Some(&1.0))
}

/// The calls of a step that were made. The world answers each on one line, and makes none behind one that it refuses.
pub(crate) fn made(step: &Step) -> &[ToolCall] {
    match &step.action {
        Action::Call(calls) => {
            let answers = step.result.text.lines().count().max(1);
            &calls[..calls.len().min(answers)]
        }
        _ => &[],
    }
}

/// Whether the world refused the last call that was made in a step.
pub(crate) fn has_refused_call(step: &Step) -> bool {
    step.result.is_error && !made(step).is_empty()
}

/// Number of calls that the world refused, at most one in a step.
pub(crate) fn refused(attempt: &Trace) -> usize {
    let steps = attempt.trajectory.steps.iter();
    steps.filter(|step| has_refused_call(step)).count()
}

/// Number of calls that were made.
pub(crate) fn calls(attempt: &Trace) -> usize {
    let steps = attempt.trajectory.steps.iter();
    steps.map(|step| made(step).len()).sum()
}

/// The story for programs; `null` for a part that there is not.
pub(crate) fn object(
    better: Option<&Better<'_>>,
    refusals: &[Refused<'_>],
    ungated: &[Ungated<'_>],
) -> Value {
    let better = better.map(|better| {
        json!({
            "task": better.after.task.id,
            "before": of_attempt(better.before),
            "after": of_attempt(better.after),
            "skill": better.selection.skill().map(|skill| &skill.id),
            "score": better.given().map(|given| given.value),
        })
    });
    let refused = refusals.first().map(|refused| {
        json!({
            "task": refused.task.task,
            "skill": refused.best.skill.id,
            "score": refused.best.value,
            "threshold": refused.threshold,
        })
    });
    let without_gate = (!ungated.is_empty()).then(|| {
        json!({
            "refused_in_all": refusals.len(),
            "tasks": ungated.len(),
            "worse": ungated.iter().filter(|one| one.is_worse()).count(),
            "better": ungated.iter().filter(|one| one.is_better()).count(),
        })
    });
    json!({"better": better, "refused": refused, "without_gate": without_gate})
}

fn of_attempt(attempt: &Trace) -> Value {
    json!({
        "calls": calls(attempt),
        "refused": refused(attempt),
        "done": attempt.is_success(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use journeyman::{
        Seed, SkillId, Version,
        domain::{Outcome, SkillRef, Source, StepResult, Trajectory, Verdict},
    };

    use super::*;

    fn skill(name: &str) -> SkillRef {
        SkillRef {
            id: SkillId::new(name),
            version: Version(1),
        }
    }

    /// An attempt with a skill or none, so many refused calls, and done at the first attempt or not at all.
    fn attempt(task: &str, given: Option<&str>, refusals: usize, first: bool) -> Trace {
        let mut trajectory = Trajectory::new("run/0/0".into(), task.into(), Seed(7));
        for _ in 0..refusals {
            let refused = StepResult::refused("no", Source::trusted("desk"));
            trajectory.push(Step::new(Action::call("close", json!({})), refused));
        }
        let outcome = Outcome::from(first);
        trajectory.outcome = Some(outcome.with_part("first_attempt", f64::from(u8::from(first))));
        if let Some(given) = given {
            let one = json!({"skill": skill(given), "text": "", "sha256": ""});
            let one = serde_json::from_value(one).unwrap();
            trajectory.injection.skills.push(one);
        }
        let verdict = Some(Verdict::binary(first));
        Trace::new(Task::new(task, "Close it."), trajectory, verdict, Seed(7))
    }

    fn evaluated(tasks: &[(Trace, Selection)]) -> Evaluated {
        let task = |(attempt, selection): &(Trace, Selection)| {
            json!({
                "step": 0, "task": attempt.task.id, "category": null, "tags": [], "selections": [selection],
                "attempts": [], "advantages": null, "written": [], "revision": 0,
            })
        };
        let report = json!({
            "run": "desk/evaluate-0", "seed": 7, "revision": 0,
            "tasks": tasks.iter().map(task).collect::<Vec<_>>(),
        });
        Evaluated {
            report: serde_json::from_value(report).unwrap(),
            attempts: tasks.iter().map(|(attempt, _)| attempt.clone()).collect(),
        }
    }

    fn inject(name: &str) -> Selection {
        Selection::unscored(Decision::Inject {
            skills: vec![skill(name)],
            explored: false,
        })
    }

    fn nothing() -> Selection {
        Selection::nothing(NothingReason::NoCandidates)
    }

    #[test]
    fn the_task_that_is_shown_is_the_first_with_the_most_refused_calls() {
        let before = |task: &str, refusals| (attempt(task, None, refusals, false), nothing());
        let after = |task: &str, first| (attempt(task, Some("s"), 0, first), inject("s"));
        let earlier = evaluated(&[
            before("a", 1),
            before("b", 2),
            before("c", 2),
            before("d", 3),
        ]);
        let later = [
            after("a", true),
            after("b", true),
            after("c", true),
            after("d", false),
        ];
        let later = evaluated(&later);
        let found = Better::find(&earlier, &later).unwrap();
        assert_eq!(found.after.task.id.as_str(), "b");
        assert_eq!(found.selection.skill(), Some(&skill("s")));
        assert!(Better::find(&later, &later).is_none());
    }

    #[test]
    fn worse_and_better_are_told_from_alike() {
        let (well, badly) = (attempt("a", None, 0, true), attempt("a", None, 1, false));
        let of = |with_gate, without| {
            let one = Ungated { with_gate, without };
            (one.is_worse(), one.is_better())
        };
        assert_eq!(of(&well, &badly), (true, false));
        assert_eq!(of(&badly, &well), (false, true));
        assert_eq!(of(&well, &well), (false, false));
        assert_eq!(of(&badly, &badly), (false, false));
    }

    #[test]
    fn without_the_gate_an_attempt_counts_that_had_the_refused_skill() {
        let mut refused = Selection::nothing(NothingReason::BelowAbsolute {
            best: 1.0,
            threshold: 2.0,
        });
        refused.candidates = vec![Scored::new(skill("refused"), 1.0, 1.0)];
        let with_gate = |task: &str| (attempt(task, None, 0, true), refused.clone());
        let without =
            |task: &str, given: &str| (attempt(task, Some(given), 1, false), inject(given));
        let after = evaluated(&[with_gate("a"), with_gate("b")]);
        let ungated = evaluated(&[without("a", "refused"), without("b", "other")]);
        let all = Ungated::all(&after, &ungated);
        let tasks: Vec<&str> = all.iter().map(|one| one.without.task.id.as_str()).collect();
        assert_eq!(tasks, ["a"]);
        let told = object(None, &refusals(&after.report), &all)["without_gate"].clone();
        let expect = json!({"refused_in_all": 2, "tasks": 1, "worse": 1, "better": 0});
        assert_eq!(told, expect);
        assert!(object(None, &[], &[])["without_gate"].is_null());
    }
}
