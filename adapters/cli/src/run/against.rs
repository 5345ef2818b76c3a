//! `run --compare`: two runs' files on the same held-out tasks, until it is clear which is better.

use std::path::{Path, PathBuf};

use journeyman::{
    Error, Result, TaskId,
    domain::Task,
    run::report::{AttemptReport, RunReport},
    stations::proof::{ComparePolicy, Comparison, Conclusion},
};
use serde_json::{Value, json};

use super::{
    form::RUN,
    opened::{OpenRun, Opening},
    progress::{GateSaid, follow},
    refuse_short_context,
};
use crate::{
    arguments::Run,
    output::{Answer, table, tell},
};

/// Tasks that each of the two makes before the other one does.
const AT_ONCE: usize = 8;

/// What the order of the tasks is drawn by, beside the seed.
const ORDER: &str = "the order of a comparison";

/// The second file's session has a name of its own, which no file can give: both may share a library.
const SECOND: &str = "_second";

/// One of the two, opened.
struct Side {
    file: PathBuf,
    run: OpenRun,
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

    fn json(&self, file: &Path) -> Value {
        json!({
            "file": file.display().to_string(),
            "done": self.done,
            "judged": self.judged,
            "score": self.mean(self.score),
            "steps": self.mean(self.steps),
            "tokens": self.mean(self.tokens),
            "with_skill": self.with_skill,
        })
    }

    fn row(&self, file: &Path) -> Vec<String> {
        let mean = |sum: f64| {
            self.mean(sum)
                .map_or("-".to_owned(), |mean| format!("{mean:.1}"))
        };
        let score = self.mean(self.score);
        vec![
            file.display().to_string(),
            format!("{} of {}", self.done, self.judged),
            score.map_or("-".to_owned(), |score| format!("{score:.3}")),
            mean(self.steps),
            mean(self.tokens),
            self.with_skill.to_string(),
        ]
    }
}

/// Measures both on the tasks that both hold out, in an order that the seed draws: tasks of one kind may lie together.
pub(super) async fn compare(library: Option<&Path>, command: &Run, other: &Path) -> Result<Answer> {
    let policy = ComparePolicy {
        error: command.error,
        margin: command.margin,
        most: u64::MAX,
        ..ComparePolicy::default()
    };
    let mut comparison = Comparison::new(policy)?;
    let mut first = Side::open(library, command, (&command.file, "")).await?;
    let mut second = Side::open(library, command, (other, SECOND)).await?;
    let mut both: Vec<TaskId> = (first.run.held_out.keys())
        .filter(|task| second.run.held_out.contains_key(*task))
        .cloned()
        .collect();
    both.sort_by_cached_key(|task| first.run.seed.derive(ORDER, 0).derive(task.as_str(), 0).0);
    if both.is_empty() {
        return Err(
            Error::invalid(RUN, "the two files hold out no task in common")
                .with("first", command.file.display())
                .with("second", other.display())
                .hint("name the same file of tasks in `held_out` of both"),
        );
    }
    let mut left_out = 0;
    for some in both.chunks(AT_ONCE) {
        let measured = match first.measure(some).await {
            Ok(one) => second.measure(some).await.map(|two| (one, two)),
            Err(error) => Err(error),
        };
        let (one, two) = match measured {
            Ok(measured) => measured,
            Err(error) => {
                first.run.world.close().await;
                second.run.world.close().await;
                return Err(error);
            }
        };
        for task in some {
            let (Some(one), Some(two)) = (judged(&one, task), judged(&two, task)) else {
                left_out += 1;
                continue;
            };
            first.came.add(one);
            second.came.add(two);
            comparison.add(one.score, two.score);
        }
        let pairs = comparison.pairs();
        tell(&format!(
            "{pairs} of {} tasks: {}",
            both.len(),
            words(&comparison)
        ));
        if comparison.is_over() {
            break;
        }
    }
    first.run.world.close().await;
    second.run.world.close().await;
    Ok(told(&comparison, (&first, &second), (both.len(), left_out)))
}

/// The attempt at a task, where it was judged.
fn judged<'a>(report: &'a RunReport, task: &TaskId) -> Option<&'a AttemptReport> {
    let of_task = report.tasks.iter().find(|one| one.task == *task)?;
    let attempt = of_task.attempts.first()?;
    attempt.success.is_some().then_some(attempt)
}

impl Side {
    async fn open(
        library: Option<&Path>,
        command: &Run,
        (file, behind): (&Path, &str),
    ) -> Result<Self> {
        let opening = Opening {
            file,
            behind,
            library,
            seed: command.seed,
            model: None,
            needs_library: false,
        };
        Ok(Self {
            file: file.to_owned(),
            run: opening.open().await?,
            came: Came::default(),
        })
    }

    async fn measure(&self, tasks: &[TaskId]) -> Result<RunReport> {
        let OpenRun {
            journeyman,
            held_out,
            held_out_rates,
            trace,
            ..
        } = &self.run;
        let tasks = tasks.iter().filter_map(|id| held_out.get(id));
        let tasks: Vec<Task> = tasks.cloned().collect();
        let count = tasks.len();
        let run = journeyman.evaluate(tasks);
        let said = (&**trace, &GateSaid::with(*held_out_rates));
        let (report, _) = follow(journeyman, run, count, said).await?;
        refuse_short_context(&report)?;
        Ok(report)
    }
}

/// What the pairs say, of the second file.
fn words(comparison: &Comparison) -> String {
    match comparison.conclusion() {
        Conclusion::Better => "the second is better".to_owned(),
        Conclusion::Worse => "the second is worse".to_owned(),
        Conclusion::NoDifference => "there is no difference larger than the margin".to_owned(),
        Conclusion::NotYet { more: Some(more) } => {
            format!("not clear yet; about {more} more tasks would tell")
        }
        _ => "not clear yet".to_owned(),
    }
}

fn told(
    comparison: &Comparison,
    (first, second): (&Side, &Side),
    (both, left_out): (usize, usize),
) -> Answer {
    let rows = [first, second].map(|side| side.came.row(&side.file));
    let titles = ["FILE", "DONE", "SCORE", "STEPS", "TOKENS", "WITH SKILL"];
    let difference = comparison.estimate();
    let mut text = table(&titles, &rows);
    text.push_str(&format!(
        "\nAfter {} of {both} tasks {}",
        comparison.pairs(),
        words(comparison)
    ));
    if let Some(difference) = difference {
        text.push_str(&format!(": {difference:+.3} of the score in the mean"));
    }
    text.push_str(".\n");
    if left_out > 0 {
        text.push_str(&format!(
            "{left_out} tasks do not count, since one of the two could not be judged at them.\n"
        ));
    }
    if let Conclusion::NotYet { .. } = comparison.conclusion() {
        text.push_str("Hold out more tasks, or ask for less: a greater `--error`, or a `--margin` below which a difference does not matter.\n");
    }
    Answer {
        json: json!({
            "conclusion": comparison.conclusion(),
            "tasks": comparison.pairs(),
            "held_out": both,
            "left_out": left_out,
            "difference": difference,
            "first": first.came.json(&first.file),
            "second": second.came.json(&second.file),
        }),
        text,
        ..Answer::default()
    }
}
