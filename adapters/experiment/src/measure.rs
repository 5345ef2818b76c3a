//! Turns a run's report and a library's commits into a cell's result. The order of tasks and commits does not matter: a
//! task is measured by its own report, and the library by the fold over its commits.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    Error, ErrorKind, Result,
    domain::{Committed, Decision, NothingReason, Selection, SkillUse, Tier},
    library::SkillLibrary,
    run::report::{AttemptReport, RunReport, TaskReport, WriteReport},
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    fault::EXPERIMENT,
    result::{HeldOut, LibraryPoint, StreamTask, Written},
    stats::mean,
};

/// The tasks of the stream.
pub(crate) fn stream(report: &RunReport) -> Vec<StreamTask> {
    report.tasks.iter().map(stream_task).collect()
}

fn stream_task(task: &TaskReport) -> StreamTask {
    let attempts = &task.attempts;
    let count = |holds: &dyn Fn(&AttemptReport) -> bool| {
        attempts.iter().filter(|attempt| holds(attempt)).count()
    };
    let unchosen = task.selections.iter().filter_map(unavailable).count();
    let rewards: Vec<f64> = attempts.iter().filter_map(|a| a.reward).collect();
    let scores: Vec<f64> = attempts.iter().map(|a| a.score).collect();
    StreamTask {
        task: task.task.to_string(),
        hidden: is_hidden(task),
        attempts: attempts.len(),
        failed: count(&|a| a.error.is_some()) + unchosen,
        first: count(&is_first),
        success: count(&|a| a.success == Some(true)),
        injected: count(&|a| !a.injected.is_empty()),
        followed: count(&|a| a.used.is_followed()),
        use_unknown: count(&|a| !a.injected.is_empty() && a.used == SkillUse::Unknown),
        score: mean(&scores).unwrap_or(0.0),
        reward: mean(&rewards),
        prompt_tokens: attempts.iter().map(|a| a.usage.prompt_tokens).sum(),
        output_tokens: attempts.iter().map(|a| a.usage.output_tokens).sum(),
        written: task.written.iter().map(written).collect(),
    }
}

fn written(report: &WriteReport) -> Written {
    Written {
        admitted: report.admitted.is_some(),
        revised: report.revised,
        drafted: report.title.is_some(),
        fallback: report.fallback,
        refused: report.refused.clone(),
    }
}

/// The held-out tasks.
///
/// # Errors
/// `Unavailable` where something failed outside the agent, which must not count as a failure of the agent.
pub(crate) fn held_out(report: &RunReport) -> Result<Vec<HeldOut>> {
    report.tasks.iter().map(held_out_task).collect()
}

fn held_out_task(task: &TaskReport) -> Result<HeldOut> {
    let failed = |message: String| {
        Error::new(ErrorKind::Unavailable, EXPERIMENT, message)
            .with("task", &task.task)
            .hint("run the experiment again: finished cells are kept. If a time limit passed, run fewer cells at once, or raise the recipe's `limits`")
    };
    if let Some(said) = task.selections.iter().find_map(unavailable) {
        return Err(failed(said));
    }
    let Some(attempt) = task.attempts.first() else {
        return Err(failed("a held-out task was not attempted".to_owned()));
    };
    if let Some(error) = &attempt.error {
        return Err(failed(format!(
            "an attempt failed outside the agent: {}",
            error.message()
        )));
    }
    Ok(HeldOut {
        task: task.task.to_string(),
        hidden: is_hidden(task),
        first: is_first(attempt),
        success: attempt.success == Some(true),
        score: attempt.score,
        reward: attempt.reward,
        injected: !attempt.injected.is_empty(),
        used: attempt.used,
        steps: attempt.steps,
        prompt_tokens: attempt.usage.prompt_tokens,
        output_tokens: attempt.usage.output_tokens,
    })
}

/// The reason, where the scorer or the retriever failed.
fn unavailable(selection: &Selection) -> Option<String> {
    match &selection.decision {
        Decision::Nothing(NothingReason::ScorerUnavailable(said)) => {
            Some(format!("the scorer failed: {said}"))
        }
        Decision::Nothing(NothingReason::RetrieverUnavailable(said)) => {
            Some(format!("the retriever failed: {said}"))
        }
        Decision::Nothing(NothingReason::Uncalibrated(said)) => {
            Some(format!("the gate has no threshold for the model: {said}"))
        }
        _ => None,
    }
}

fn is_hidden(task: &TaskReport) -> bool {
    task.tags.iter().any(|tag| tag == "hidden")
}

/// Whether the task was done without a refused or needless call: a success whose verdict's part `first_attempt` is 1. A
/// success of a judge that does not report this part counts.
fn is_first(attempt: &AttemptReport) -> bool {
    let is_one = |part: &f64| *part == 1.0;
    attempt.success == Some(true) && attempt.parts.get("first_attempt").is_none_or(is_one)
}

/// A library's history, by the number of learned tasks.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) points: Vec<LibraryPoint>,
    /// For each number of learned tasks, the number of commits before those of the next task.
    ends: Vec<usize>,
}

impl History {
    /// Folds the commits of a stream of `tasks` tasks. A task may commit several times. A commit that names no task, such as
    /// one of maintenance, belongs to the task before it.
    ///
    /// # Errors
    /// The library's own, for commits that do not follow each other in one library.
    pub(crate) fn of(committed: &[Committed], tasks: usize) -> Result<Self> {
        let mut library = SkillLibrary::new();
        let mut seen = BTreeSet::new();
        let mut point = LibraryPoint::default();
        let mut history = Self {
            points: Vec::new(),
            ends: Vec::new(),
        };
        for (at, commit) in committed.iter().enumerate() {
            if commit
                .cause
                .task
                .as_ref()
                .is_some_and(|task| seen.insert(task))
            {
                history.push(&mut point, at);
            }
            let before = library.clone();
            for moved in library.apply(commit)?.moves {
                *point.changes.entry(word(&moved.operation)).or_default() += 1;
            }
            count_states(&before, &library, &mut point.changes);
            count(&library, &mut point);
        }
        while history.points.len() <= tasks {
            history.push(&mut point, committed.len());
        }
        Ok(history)
    }

    fn push(&mut self, point: &mut LibraryPoint, end: usize) {
        self.points.push(point.clone());
        self.ends.push(end);
        point.learned += 1;
        point.changes.clear();
    }

    /// The number of commits after `learned` tasks.
    pub(crate) fn end(&self, learned: usize) -> usize {
        self.ends
            .get(learned)
            .or(self.ends.last())
            .copied()
            .unwrap_or(0)
    }
}

fn count(library: &SkillLibrary, point: &mut LibraryPoint) {
    point.tiers.clear();
    point.states.clear();
    for entry in library.entries() {
        *point.tiers.entry(word(&entry.tier)).or_default() += 1;
        *point.states.entry(word(&entry.skill.state)).or_default() += 1;
    }
    point.deleted = library.deleted().count();
}

/// Counts the skills whose state has changed, such as `active to disabled`.
fn count_states(before: &SkillLibrary, after: &SkillLibrary, to: &mut BTreeMap<String, usize>) {
    for id in after.changed_from(before) {
        let state = |library: &SkillLibrary| library.get(id).map(|entry| word(&entry.skill.state));
        if let (Some(one), Some(other)) = (state(before), state(after))
            && one != other
        {
            *to.entry(format!("{one} to {other}")).or_default() += 1;
        }
    }
}

/// An enumeration's value as JSON names it.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// The tiers whose skills are offered.
pub(crate) fn offered() -> [String; 2] {
    [Tier::Cache, Tier::Reservoir].map(|tier| word(&tier))
}
