//! The quickstart as people see it, with the services of its travel office: first attempts before and after, and tasks that a skill
//! made worse.

use std::{path::Path, time::Instant};

use journeyman::{
    Result, Seed,
    contract::LanguageModel,
    run::report::{RunReport, TaskReport},
};
use journeyman_toolworld::trade::Trade;
use quickstart::{Parts, Summaries, Tasks, defaults::STEPS};
use serde::{Deserialize, Serialize};

use super::stream::{SPLIT, runs};
use crate::figures::{Bound, Figures, Outcome, attempted, key, stats};

/// Bootstrap samples behind an interval.
const RESAMPLES: usize = 4_000;

/// What the quickstart came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Told {
    /// The share of the held-out tasks with a hidden demand that were done at the first attempt, before and after.
    hidden: [f64; 2],
    before: Vec<Attempted>,
    after: Vec<Attempted>,
    /// The tool of each held-out task: tasks of one tool share a contract, and so are alike.
    tools: Vec<String>,
    skills: usize,
    /// How long the runs took; the model was loaded before.
    seconds: f64,
}

/// A held-out task's attempt.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Attempted {
    went: Went,
    has_skill: bool,
}

/// How well an attempt went, by order: done without one refused or needless call, done, not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Went {
    first: bool,
    done: bool,
}

/// Measures and records.
pub(super) fn record(figures: &mut Figures<'_>, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let parts = Parts::load(path, STEPS)?;
    figures.subject("model", parts.model.capabilities().model.as_str());
    let key = key(&parts, "quickstart in the travel office");
    let told: Told = figures.once(&key, || tell(&parts, seed))?;
    let [before, after] = told.hidden.map(|share| 100.0 * share);
    let hidden = "first attempts at hidden demands";
    figures.record(&format!("{hidden}, before, %"), before, Bound::AtMost(10.0));
    figures.record(&format!("{hidden}, after, %"), after, Bound::AtLeast(90.0));
    let [before, after] = [&told.before, &told.after].map(|attempts| firsts(attempts));
    let seed = seed.derive("tools", 0);
    let gain = stats::clustered(&before, &after, &told.tools, seed, RESAMPLES)?;
    let name = "first attempts at all held-out tasks, after less before, points";
    figures.interval(name, &gain, Bound::Above(0.0), Bound::None);
    let worse = worse(&told.before, &told.after);
    let both = "held-out tasks attempted without a skill and with one";
    figures.record(both, worse.len() as f64, Bound::None);
    let worse = 100.0 * stats::mean(&stats::flags(&worse));
    let name = "of these, worse with the skill, %";
    figures.record(name, worse, Bound::AtMost(5.0));
    figures.record("skills in the library", told.skills as f64, Bound::None);
    figures.record("seconds", told.seconds, Bound::None);
    Ok(())
}

fn tell(
    parts: &Parts,
    seed: Seed,
) -> std::result::Result<Told, Box<dyn std::error::Error + Send + Sync>> {
    let start = Instant::now();
    let tasks = Tasks::of_trade(Trade::travel()?, seed, SPLIT)?;
    let runs = runs(parts, seed, &tasks)?;
    let seconds = start.elapsed().as_secs_f64();
    let reports = [&runs.before, &runs.after];
    let tool = |task: &TaskReport| {
        let tool = tasks.tools.get(&task.task).cloned();
        tool.ok_or_else(|| format!("task {} is about no tool", task.task))
    };
    Ok(Told {
        hidden: reports.map(|report| Summaries::of(report).hidden.first_attempt_success),
        before: attempts(&runs.before)?,
        after: attempts(&runs.after)?,
        tools: (runs.after.tasks.iter())
            .map(tool)
            .collect::<std::result::Result<_, _>>()?,
        skills: runs.skills,
        seconds,
    })
}

/// The attempt at each task of an evaluation.
///
/// # Errors
/// Where a task was not attempted, and where something failed outside the agent: it would count against the agent.
fn attempts(report: &RunReport) -> Result<Vec<Attempted>> {
    let firsts = Summaries::first_attempts(attempted(report)?);
    let mut attempts = Vec::new();
    for (task, first) in report.tasks.iter().zip(firsts) {
        let Some(attempt) = task.attempts.first() else {
            continue;
        };
        if let Some(error) = &attempt.error {
            return Err(error.clone());
        }
        let done = attempt.success == Some(true);
        attempts.push(Attempted {
            went: Went { first, done },
            has_skill: !attempt.injected.is_empty(),
        });
    }
    Ok(attempts)
}

/// For each attempt 100 where it did the task without one refused or needless call, else 0.
fn firsts(attempts: &[Attempted]) -> Vec<f64> {
    let firsts: Vec<bool> = attempts.iter().map(|one| one.went.first).collect();
    let flags = stats::flags(&firsts).into_iter();
    flags.map(|flag| 100.0 * flag).collect()
}

/// Of each task that had no skill before and has one after, whether it went worse.
fn worse(before: &[Attempted], after: &[Attempted]) -> Vec<bool> {
    let both = before.iter().zip(after);
    both.filter(|(before, after)| !before.has_skill && after.has_skill)
        .map(|(before, after)| after.went < before.went)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_counts_that_was_attempted_without_a_skill_and_with_one() {
        let attempt = |first, done, has_skill| Attempted {
            went: Went { first, done },
            has_skill,
        };
        let before = [
            attempt(true, true, false),
            attempt(true, true, false),
            attempt(false, true, false),
            attempt(false, true, false),
            attempt(false, true, true),
        ];
        let after = [
            attempt(false, true, true),
            attempt(false, false, false),
            attempt(false, false, true),
            attempt(true, true, true),
            attempt(false, false, true),
        ];
        assert_eq!(worse(&before, &after), [true, true, false]);
        assert_eq!(firsts(&after), [0.0, 0.0, 0.0, 100.0, 0.0]);
    }
}
