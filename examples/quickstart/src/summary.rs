//! What a run over tasks came to.

use journeyman::run::report::{AttemptReport, RunReport, TaskReport};
use serde::Serialize;

/// Means over tasks, each attempted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// How many tasks.
    pub n: usize,
    /// The share done without one refused or needless call.
    pub first_attempt_success: f64,
    /// The share done within the step budget.
    pub success: f64,
    /// Mean number of steps.
    pub steps: f64,
    /// Mean number of the agent's own tokens, prompts and output together; what the gate scores is not counted.
    pub tokens: f64,
    /// The share that was given a skill.
    pub skill_use: f64,
}

/// The same for all tasks, and apart for those with a hidden contract and plain ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summaries {
    /// Every task.
    #[serde(flatten)]
    pub all: Summary,
    /// Those with a hidden contract.
    pub hidden: Summary,
    /// Those without.
    pub plain: Summary,
}

/// Whether the attempt did the task without one refused or needless call.
fn is_first(attempt: &AttemptReport) -> bool {
    attempt.success == Some(true) && attempt.parts.get("first_attempt") == Some(&1.0)
}

impl Summaries {
    /// Of an evaluation.
    pub fn of(report: &RunReport) -> Self {
        let tagged = |tag: &str| {
            summary(
                report
                    .tasks
                    .iter()
                    .filter(|t| t.tags.iter().any(|x| x == tag)),
            )
        };
        Self {
            all: summary(report.tasks.iter()),
            hidden: tagged("hidden"),
            plain: tagged("plain"),
        }
    }

    /// For each task of an evaluation whether it was done at the first attempt.
    pub fn first_attempts(report: &RunReport) -> Vec<bool> {
        report
            .tasks
            .iter()
            .map(|task| task.attempts.first().is_some_and(is_first))
            .collect()
    }
}

fn summary<'a>(tasks: impl Iterator<Item = &'a TaskReport>) -> Summary {
    let attempts: Vec<&AttemptReport> = tasks.filter_map(|task| task.attempts.first()).collect();
    let n = attempts.len();
    let mean = |value: &dyn Fn(&AttemptReport) -> f64| match n {
        0 => 0.0,
        n => attempts.iter().map(|a| value(a)).sum::<f64>() / n as f64,
    };
    let share = |holds: &dyn Fn(&AttemptReport) -> bool| mean(&|a| f64::from(u8::from(holds(a))));
    Summary {
        n,
        first_attempt_success: share(&is_first),
        success: share(&|a| a.success == Some(true)),
        steps: mean(&|a| f64::from(a.steps)),
        tokens: mean(&|a| a.usage.total() as f64),
        skill_use: share(&|a| !a.injected.is_empty()),
    }
}
