//! Held-out tasks before and after.

use journeyman::run::report::{AttemptReport, RunReport, TaskReport};
use journeyman_experiment::Spread;
use serde_json::{Value, json};

use crate::output::{number, table};

/// The figures of one measurement.
#[derive(Debug)]
struct Figures {
    done: usize,
    judged: usize,
    /// Attempts with a fault outside the agent.
    faults: usize,
    /// Attempts that ended for want of context.
    out_of_context: usize,
    score: Option<f64>,
    /// The agent's tokens for each task.
    tokens: Option<f64>,
    steps: Option<f64>,
    with_skill: usize,
    /// Whether any attempt had a skill, judged or not.
    has_skills: bool,
}

impl Figures {
    fn of(report: &RunReport) -> Self {
        let judged: Vec<&AttemptReport> = report
            .attempts()
            .filter(|attempt| attempt.success.is_some())
            .collect();
        let mean = |of: fn(&AttemptReport) -> f64| {
            let values: Vec<f64> = judged.iter().map(|attempt| of(attempt)).collect();
            Some(Spread::of(&values)?.mean)
        };
        Self {
            done: judged
                .iter()
                .filter(|one| one.success == Some(true))
                .count(),
            judged: judged.len(),
            faults: report.errors().count(),
            out_of_context: report.out_of_context().count(),
            score: mean(|attempt| attempt.score),
            tokens: mean(|attempt| {
                let usage = attempt.usage;
                (usage.prompt_tokens + usage.output_tokens) as f64
            }),
            steps: mean(|attempt| attempt.steps.into()),
            with_skill: judged.iter().filter(|one| !one.injected.is_empty()).count(),
            has_skills: report.attempts().any(|one| !one.injected.is_empty()),
        }
    }

    fn json(&self) -> Value {
        json!({
            "done": self.done,
            "judged": self.judged,
            "faults": self.faults,
            "out_of_context": self.out_of_context,
            "score": self.score,
            "tokens": self.tokens,
            "steps": self.steps,
            "with_skill": self.with_skill,
        })
    }
}

/// Before and after, or one measurement alone.
#[derive(Debug)]
pub(super) struct Comparison {
    before: Option<Figures>,
    after: Option<Figures>,
    /// The differences of the tasks that were judged both times: of their being done, and of their scores.
    done: Option<Spread>,
    score: Option<Spread>,
}

impl Comparison {
    pub(super) fn of(before: Option<&RunReport>, after: Option<&RunReport>) -> Self {
        let both = before.zip(after);
        let done = |attempt: &AttemptReport| f64::from(u8::from(attempt.success == Some(true)));
        Self {
            done: both.and_then(|(before, after)| difference(before, after, done)),
            score: both
                .and_then(|(before, after)| difference(before, after, |attempt| attempt.score)),
            before: before.map(Figures::of),
            after: after.map(Figures::of),
        }
    }

    /// How many tasks of the latest measurement were done, and how many were judged.
    pub(super) fn done(&self) -> (usize, usize) {
        let latest = self.after.as_ref().or(self.before.as_ref());
        latest.map_or((0, 0), |one| (one.done, one.judged))
    }

    /// Whether the measurements differ, though no skill can be the reason.
    fn differs_by_itself(&self) -> bool {
        let both = self.before.as_ref().zip(self.after.as_ref());
        let without_skill = both.is_some_and(|(one, other)| !one.has_skills && !other.has_skills);
        let differs = |spread: Option<Spread>| {
            spread.is_some_and(|one| one.mean != 0.0 || one.sd.is_some_and(|sd| sd > 0.0))
        };
        without_skill && (differs(self.done) || differs(self.score))
    }

    pub(super) fn json(&self) -> Value {
        let difference = |spread: Option<Spread>| {
            let spread = spread?;
            let interval = spread.interval().map(|(low, high)| [low, high]);
            Some(json!({"mean": spread.mean, "interval": interval, "pairs": spread.n}))
        };
        json!({
            "before": self.before.as_ref().map(Figures::json),
            "after": self.after.as_ref().map(Figures::json),
            "after_less_before": {"done": difference(self.done), "score": difference(self.score)},
        })
    }

    pub(super) fn text(&self) -> String {
        type Cell = fn(&Figures) -> String;
        let rows: [(&str, Cell); 7] = [
            ("tasks done", |one| {
                format!("{} of {}", one.done, one.judged)
            }),
            ("mean score", |one| number(one.score, 2)),
            ("the agent's tokens for a task", |one| number(one.tokens, 0)),
            ("steps of a task", |one| number(one.steps, 1)),
            ("tasks with a skill", |one| {
                format!("{} of {}", one.with_skill, one.judged)
            }),
            ("attempts with a fault outside the agent", |one| {
                one.faults.to_string()
            }),
            ("attempts that ended for want of context", |one| {
                one.out_of_context.to_string()
            }),
        ];
        let cells = |(name, cell): (&str, Cell)| {
            let measured = self.before.iter().chain(&self.after).map(cell);
            std::iter::once(name.to_owned()).chain(measured).collect()
        };
        let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
        let head: &[&str] = match (&self.before, &self.after) {
            (Some(_), Some(_)) => &["HELD-OUT TASKS", "BEFORE", "AFTER"],
            _ => &["HELD-OUT TASKS", "NOW"],
        };
        let mut text = table(head, &rows);
        let differences = [("tasks done", self.done), ("mean score", self.score)];
        for (what, spread) in differences {
            let Some(spread) = spread else { continue };
            text.push_str(&format!("After less before, {what}: {:+.2}", spread.mean));
            if let Some((low, high)) = spread.interval() {
                text.push_str(&format!(", 95% interval {low:+.2} to {high:+.2}"));
            }
            text.push_str(&match spread.n {
                1 => ", of one task: this says nothing about others.\n".to_owned(),
                n => format!(", paired over {n} tasks.\n"),
            });
        }
        if self.differs_by_itself() {
            text.push_str(
                "No skill was given in either measurement, so the difference is not what was learned. The model may answer otherwise \
                 from time to time (`exact = true` in [model] makes the answers of a GGUF file repeat, and takes longer), and so may the \
                 world.\n",
            );
        }
        text
    }
}

/// The differences of the tasks that were judged both times.
fn difference(
    before: &RunReport,
    after: &RunReport,
    of: impl Fn(&AttemptReport) -> f64,
) -> Option<Spread> {
    let judged = |task: &TaskReport| {
        let attempt = task.attempts.first()?;
        attempt.success?;
        Some(of(attempt))
    };
    let pair = |task: &TaskReport| {
        let again = after.tasks.iter().find(|one| one.task == task.task)?;
        Some(judged(again)? - judged(task)?)
    };
    let differences: Vec<f64> = before.tasks.iter().filter_map(pair).collect();
    Spread::of(&differences)
}
