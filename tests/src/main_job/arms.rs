//! The quickstart's held-out tasks: no library, the learned one behind each way to choose, and one that holds nothing
//! relevant.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Seed,
    agent::MemoryStore,
    contract::SkillStore,
    domain::{Committed, Decision},
    run::report::{RunReport, TaskReport},
};
use quickstart::{Choice, Parts, Split, Summaries, Tasks, standard};
use serde::{Deserialize, Serialize};

use super::{key, library};
use crate::figures::{
    Bound, Figures, Outcome,
    stats::{self, Interval},
};

const SPLIT: Split = Split {
    stream: 48,
    held_out: 300,
};

/// What came of the stream.
#[derive(Debug, Serialize, Deserialize)]
struct Learned {
    committed: Vec<Committed>,
    /// Attempts that could not be made or judged.
    failed: usize,
}

/// Bootstrap samples behind an interval.
const RESAMPLES: usize = 4000;

/// One way to choose, and what came of it.
#[derive(Debug, Serialize, Deserialize)]
struct Arm {
    first: Vec<bool>,
    hidden: Vec<bool>,
    /// Each task's tool: tasks of one tool share a contract, and so are alike.
    tools: Vec<String>,
    success: f64,
    tokens: f64,
    skill_use: f64,
    /// The share of tasks for which candidates were scored.
    scored: f64,
}

impl Arm {
    /// # Errors
    /// When something failed outside the agent, so that the run is no result.
    fn of(report: &RunReport, tasks: &Tasks) -> Result<Self, String> {
        if let Some(failure) = failure(report) {
            return Err(failure);
        }
        let sums = Summaries::of(report);
        let tool = |task: &TaskReport| {
            let tool = tasks.tools.get(&task.task).cloned();
            tool.ok_or_else(|| format!("task {} is about no tool", task.task))
        };
        let scored = report
            .tasks
            .iter()
            .filter(|task| task.selections.iter().any(|s| !s.candidates.is_empty()))
            .count();
        Ok(Self {
            first: Summaries::first_attempts(report),
            hidden: report
                .tasks
                .iter()
                .map(|task| task.tags.iter().any(|tag| tag == "hidden"))
                .collect(),
            tools: report.tasks.iter().map(tool).collect::<Result<_, _>>()?,
            success: sums.all.success,
            tokens: sums.all.tokens,
            skill_use: sums.all.skill_use,
            scored: scored as f64 / report.tasks.len() as f64,
        })
    }

    fn values(&self) -> Vec<f64> {
        stats::flags(&self.first)
    }

    fn share(&self, hidden: bool) -> f64 {
        let of: Vec<f64> = self
            .values()
            .into_iter()
            .zip(&self.hidden)
            .filter(|(_, is_hidden)| **is_hidden == hidden)
            .map(|(value, _)| value)
            .collect();
        stats::mean(&of)
    }

    /// How much more often this arm does a task at the first attempt than another.
    fn over(&self, other: &Self, seed: Seed) -> Result<Interval, String> {
        if self.tools != other.tools {
            return Err("two arms attempted other tasks".to_owned());
        }
        let seed = seed.derive("tools", 0);
        stats::clustered(
            &other.values(),
            &self.values(),
            &self.tools,
            seed,
            RESAMPLES,
        )
    }
}

/// What failed outside the agent: an attempt that could not be made or judged, or a choice that could not be made.
fn failure(report: &RunReport) -> Option<String> {
    report.tasks.iter().find_map(|task| {
        let error = task.attempts.iter().find_map(|a| a.error.as_ref());
        if let Some(error) = error {
            return Some(format!("task {}: an attempt failed: {error}", task.task));
        }
        if task.attempts.is_empty() {
            return Some(format!("task {}: there is no attempt", task.task));
        }
        task.selections.iter().find_map(|s| match &s.decision {
            Decision::Nothing(reason) if reason.is_fault() => {
                Some(format!("task {}: {reason}", task.task))
            }
            _ => None,
        })
    })
}

/// Every way to choose but the default, as it is named.
const OTHERS: [(&str, Choice, bool); 7] = [
    ("gate mean", Choice::Mean, true),
    ("gate sum", Choice::Sum, true),
    ("pmi without gate", Choice::Pmi, false),
    ("mean without gate", Choice::Mean, false),
    ("sum without gate", Choice::Sum, false),
    ("bm25 first", Choice::Bm25, false),
    ("random", Choice::Random, false),
];

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let tasks = Tasks::of(seed, SPLIT)?;
    let Learned { committed, failed } = figures.once(&key(parts, "learned library"), || {
        Ok(block_on(learn(parts, seed, &tasks))?)
    })?;
    let right = library::fully_right(&committed, &tasks)?;
    figures.record("library.skills", right.skills as f64, Bound::None);
    figures.record("library.fully right", right.exact, Bound::None);
    figures.record(
        "library.fully right, calls in any order",
        right.same,
        Bound::None,
    );
    let failed = failed as f64;
    figures.record("library.attempts that failed", failed, Bound::AtMost(0.0));

    let irrelevant = library::irrelevant(seed, &tasks)?;
    let arm = |figures: &mut Figures<'_>, name: &str, library: &[Committed], choice, gated| {
        let arm: Result<Arm, _> = figures.once(&key(parts, &format!("arm {name}")), || {
            let report = block_on(evaluate(parts, seed, &tasks, library, choice, gated))?;
            Ok(Arm::of(&report, &tasks)?)
        });
        arm.inspect(|arm| report(figures, name, arm))
    };
    let none = arm(figures, "none", &committed, Choice::None, true)?;
    let gate = arm(figures, "gate pmi", &committed, Choice::Pmi, true)?;
    let mut others = Vec::new();
    for (name, choice, gated) in OTHERS {
        others.push((name, arm(figures, name, &committed, choice, gated)?));
    }
    let beside = arm(figures, "nothing relevant", &irrelevant, Choice::Pmi, true)?;

    figures.record(
        "held-out tasks",
        none.first.len() as f64,
        Bound::AtLeast(300.0),
    );
    figures.record(
        "nothing relevant.tasks with candidates",
        beside.scored,
        Bound::Above(0.0),
    );
    compare(figures, &none, &gate, &others, &beside)
}

/// Pairs of arms over the same tasks, with intervals by a bootstrap over tools.
fn compare(
    figures: &mut Figures<'_>,
    none: &Arm,
    gate: &Arm,
    others: &[(&str, Arm)],
    beside: &Arm,
) -> Outcome {
    let seed = figures.options().seed;
    let gain = gate.over(none, seed)?;
    figures.interval("gate pmi over none", &gain, Bound::Above(0.3), Bound::None);
    for (name, other) in others {
        figures.interval(
            &format!("{name} over gate pmi"),
            &other.over(gate, seed)?,
            Bound::AtMost(0.0),
            Bound::None,
        );
    }
    figures.interval(
        "nothing relevant over none",
        &beside.over(none, seed)?,
        Bound::AtLeast(-0.02),
        Bound::None,
    );
    Ok(())
}

async fn learn(parts: &Parts, seed: Seed, tasks: &Tasks) -> journeyman::Result<Learned> {
    let store = Arc::new(MemoryStore::new());
    let recipe = standard(Choice::Pmi, true);
    let journeyman = parts
        .open(recipe, "learn", seed, store.clone(), None)
        .await?;
    let report = journeyman.learn(tasks.stream.clone()).await?;
    let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
    Ok(Learned {
        committed: store.load().await?.committed,
        failed: attempts.filter(|attempt| attempt.error.is_some()).count(),
    })
}

fn report(figures: &mut Figures<'_>, name: &str, arm: &Arm) {
    figures.record(
        &format!("{name}.first attempt"),
        stats::mean(&arm.values()),
        Bound::None,
    );
    figures.record(
        &format!("{name}.first attempt, hidden"),
        arm.share(true),
        Bound::None,
    );
    figures.record(
        &format!("{name}.first attempt, plain"),
        arm.share(false),
        Bound::None,
    );
    figures.record(&format!("{name}.success"), arm.success, Bound::None);
    figures.record(&format!("{name}.tokens"), arm.tokens, Bound::None);
    figures.record(&format!("{name}.skill use"), arm.skill_use, Bound::None);
}

async fn evaluate(
    parts: &Parts,
    seed: Seed,
    tasks: &Tasks,
    committed: &[Committed],
    choice: Choice,
    gated: bool,
) -> journeyman::Result<RunReport> {
    let recipe = standard(choice, gated);
    let store = library::store(committed).await?;
    parts
        .open(recipe, "evaluate", seed, store, None)
        .await?
        .evaluate(tasks.held_out.clone())
        .await
}

#[cfg(test)]
mod tests {
    use journeyman::{
        Error,
        domain::{NothingReason, Selection},
        testing::sample,
    };

    use super::*;

    fn report(decision: NothingReason, error: Option<Error>) -> RunReport {
        let mut attempt = sample::attempt_report("a", &[], true);
        attempt.error = error;
        let mut task = sample::task_report("t");
        task.selections = vec![Selection::nothing(decision)];
        task.attempts = vec![attempt];
        let mut report = sample::run_report();
        report.tasks = vec![task];
        report
    }

    #[test]
    fn what_failed_outside_the_agent_is_no_result() {
        let said = || "gone".to_owned();
        let check = |report: &RunReport, expect: Option<&str>| {
            let found = failure(report);
            match expect {
                None => assert_eq!(found, None),
                Some(words) => assert!(found.is_some_and(|found| found.contains(words)), "{words}"),
            }
        };
        check(&report(NothingReason::NoCandidates, None), None);
        let scorer = NothingReason::ScorerUnavailable(said());
        check(&report(scorer, None), Some("gone"));
        let retriever = NothingReason::RetrieverUnavailable(said());
        check(&report(retriever, None), Some("gone"));
        let fit = NothingReason::Uncalibrated(said());
        check(&report(fit, None), Some("gone"));
        let error = Error::invalid("test", "gone");
        check(
            &report(NothingReason::NoCandidates, Some(error)),
            Some("an attempt failed"),
        );
        let mut none = report(NothingReason::NoCandidates, None);
        none.tasks[0].attempts.clear();
        check(&none, Some("there is no attempt"));
    }
}
