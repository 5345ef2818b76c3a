//! Two sessions that attempt the same tasks, until it is clear which does better.

use std::{collections::BTreeMap, sync::Arc};

use journeyman::{
    Result, Seed, TaskId,
    domain::Task,
    run::{
        Journeyman,
        report::{AttemptReport, RunReport},
    },
    stations::proof::{ComparePolicy, Comparison, Conclusion},
};
use serde_json::{Value, json};

use super::{
    progress::{GateSaid, follow},
    refuse_short_context,
    trace::Trace,
};
use crate::{
    calibrated::Calibrated,
    output::{number, table, tell},
};

/// Tasks that each of the two makes before the other one does.
const AT_ONCE: usize = 8;

/// What helps where the pairs do not decide it, beside more tasks.
pub(super) const ASK_FOR_LESS: &str =
    "ask for less: a greater `--error`, or a `--margin` below which a difference does not matter";

/// What the order of the tasks is drawn by, beside the seed.
const ORDER: &str = "the order of a comparison";

/// A test that is wrong in at most this share of comparisons, to which differences up to the margin do not matter, and that ends after
/// so many pairs.
pub(super) fn policy((error, margin): (f64, f64), most: u64) -> ComparePolicy {
    let mut policy = ComparePolicy::default();
    policy.error = error;
    policy.margin = margin;
    // Who allows fewer pairs than usually have to be there wants them to count.
    policy.least = policy.least.min(most);
    policy.most = most;
    policy
}

/// One of the two.
#[derive(Debug)]
pub(super) struct Side {
    /// Its name in the answer.
    name: String,
    journeyman: Journeyman,
    tasks: BTreeMap<TaskId, Task>,
    /// What was said of its gate, in all its parts together.
    gate: GateSaid,
    trace: Arc<Trace>,
    came: Came,
}

/// What came of a side's attempts that count: those of tasks that both were judged at.
#[derive(Debug, Default)]
struct Came {
    done: u64,
    judged: u64,
    score: f64,
    steps: f64,
    tokens: f64,
    with_skill: u64,
}

impl Came {
    fn add(&mut self, attempt: &AttemptReport) {
        self.judged += 1;
        self.done += u64::from(attempt.success == Some(true));
        self.score += attempt.score;
        self.steps += f64::from(attempt.steps);
        self.tokens += attempt.usage.total() as f64;
        self.with_skill += u64::from(!attempt.injected.is_empty());
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.judged > 0).then(|| sum / self.judged as f64)
    }
}

impl Side {
    pub(super) fn new(
        name: String,
        journeyman: Journeyman,
        tasks: Vec<Task>,
        (calibrated, trace): (Option<Calibrated>, Arc<Trace>),
    ) -> Self {
        let tasks = tasks.into_iter().map(|task| (task.id.clone(), task));
        Self {
            name,
            journeyman,
            tasks: tasks.collect(),
            gate: GateSaid::with(calibrated),
            trace,
            came: Came::default(),
        }
    }

    /// The tasks that the other one has too, in an order that the seed draws: tasks of one kind may lie together.
    pub(super) fn shared(&self, other: &Self, seed: Seed) -> Vec<TaskId> {
        let tasks = self.tasks.keys();
        let both = tasks.filter(|task| other.tasks.contains_key(*task));
        let mut both: Vec<TaskId> = both.cloned().collect();
        both.sort_by_cached_key(|task| seed.derive(ORDER, 0).derive(task.as_str(), 0).0);
        both
    }

    /// Number of attempts that count and had no skill in their prompts.
    pub(super) fn without_skill(&self) -> u64 {
        self.came.judged - self.came.with_skill
    }

    pub(super) fn json(&self) -> Value {
        let came = &self.came;
        json!({
            "done": came.done,
            "judged": came.judged,
            "score": came.mean(came.score),
            "steps": came.mean(came.steps),
            "tokens": came.mean(came.tokens),
            "with_skill": came.with_skill,
        })
    }

    fn row(&self) -> Vec<String> {
        let came = &self.came;
        vec![
            self.name.clone(),
            format!("{} of {}", came.done, came.judged),
            number(came.mean(came.score), 3),
            number(came.mean(came.steps), 1),
            number(came.mean(came.tokens), 1),
            came.with_skill.to_string(),
        ]
    }

    async fn measure(&self, tasks: &[TaskId]) -> Result<RunReport> {
        let tasks = tasks.iter().filter_map(|id| self.tasks.get(id));
        let tasks: Vec<Task> = tasks.cloned().collect();
        let count = tasks.len();
        let run = self.journeyman.evaluate(tasks);
        let said = (&*self.trace, &self.gate);
        let (report, _) = follow(&self.journeyman, run, count, said).await?;
        refuse_short_context(&report)?;
        Ok(report)
    }
}

/// What the pairs of a comparison came to.
#[derive(Debug)]
pub(super) struct Compared {
    comparison: Comparison,
    /// Number of the tasks that both have.
    tasks: usize,
    /// Number of those at which one of the two could not be judged.
    left_out: usize,
    /// The second, in words.
    second: &'static str,
}

/// Attempts these tasks on both sides, until the comparison is over; `second` names the second side in words.
///
/// # Errors
/// Those of an evaluation.
pub(super) async fn compare(
    comparison: Comparison,
    (one, other): (&mut Side, &mut Side),
    tasks: &[TaskId],
    second: &'static str,
) -> Result<Compared> {
    let mut compared = Compared {
        comparison,
        tasks: tasks.len(),
        left_out: 0,
        second,
    };
    for some in tasks.chunks(AT_ONCE) {
        let (first, then) = (one.measure(some).await?, other.measure(some).await?);
        for task in some {
            let (Some(first), Some(then)) = (judged(&first, task), judged(&then, task)) else {
                compared.left_out += 1;
                continue;
            };
            one.came.add(first);
            other.came.add(then);
            compared.comparison.add(first.score, then.score);
        }
        let (pairs, all) = (compared.pairs(), tasks.len());
        tell(&format!("{pairs} of {all} tasks: {}", compared.words()));
        if compared.comparison.is_over() {
            break;
        }
    }
    Ok(compared)
}

/// The attempt at a task, where it was judged.
fn judged<'a>(report: &'a RunReport, task: &TaskId) -> Option<&'a AttemptReport> {
    let of_task = report.tasks.iter().find(|one| one.task == *task)?;
    let attempt = of_task.attempts.first()?;
    attempt.success.is_some().then_some(attempt)
}

impl Compared {
    /// Number of tasks at which both were judged.
    pub(super) fn pairs(&self) -> u64 {
        self.comparison.pairs()
    }

    /// Whether the pairs do not decide it yet.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.comparison.conclusion(), Conclusion::NotYet { .. })
    }

    /// What the pairs say, of the second.
    fn words(&self) -> String {
        match self.comparison.conclusion() {
            Conclusion::Better => format!("{} is better", self.second),
            Conclusion::Worse => format!("{} is worse", self.second),
            Conclusion::NoDifference => "there is no difference larger than the margin".to_owned(),
            Conclusion::NotYet { more: Some(more) } => {
                format!("not clear yet; about {more} more tasks would tell")
            }
            _ => "not clear yet".to_owned(),
        }
    }

    /// The table of both, whose first column is headed so, and what the pairs say.
    pub(super) fn text(&self, head: &str, sides: [&Side; 2]) -> String {
        let titles = [head, "DONE", "SCORE", "STEPS", "TOKENS", "WITH SKILL"];
        let mut text = table(&titles, &sides.map(Side::row));
        text.push_str(&format!(
            "\nAfter {} of {} tasks {}",
            self.pairs(),
            self.tasks,
            self.words()
        ));
        if let Some(difference) = self.comparison.estimate() {
            text.push_str(&format!(": {difference:+.3} of the score in the mean"));
        }
        text.push_str(".\n");
        if self.left_out > 0 {
            text.push_str(&format!(
                "{} tasks do not count, since one of the two could not be judged at them.\n",
                self.left_out
            ));
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "conclusion": self.comparison.conclusion(),
            "tasks": self.pairs(),
            "left_out": self.left_out,
            "difference": self.comparison.estimate(),
        })
    }
}
