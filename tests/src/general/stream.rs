//! The quickstart by the model's own chat template and the general roles: what it learns from a stream.

use std::{path::Path, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    run::report::{RunReport, TaskReport},
};
use quickstart::{
    Parts, Split, Summaries, Summary, Tasks,
    defaults::{CHOICE, GROUP, STEPS, STREAM},
    standard,
};
use serde::{Deserialize, Serialize};

use crate::figures::{Bound, Figures, Outcome, key};

/// The tasks that the quickstart has.
pub(super) const SPLIT: Split = Split::of(STREAM);

/// What the quickstart's runs gave.
pub(super) struct Runs {
    /// The held-out tasks before.
    pub(super) before: RunReport,
    pub(super) learned: RunReport,
    /// The held-out tasks with the learned library, frozen.
    pub(super) after: RunReport,
    /// Skills that are offered at the end.
    pub(super) skills: usize,
}

/// What the quickstart came to, in shares of the held-out tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Learned {
    hidden: Phases,
    /// Tasks that need no skill: one in the prompt is a needless one.
    plain: Phases,
    /// Attempts at plain tasks of the stream that were done, at the recipe's temperature.
    sampled: f64,
    skills: usize,
}

/// The held-out tasks of a kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Phases {
    first_before: f64,
    first_after: f64,
    done_before: f64,
    done_after: f64,
    /// With a skill in the prompt, after learning.
    with_skill: f64,
}

impl Phases {
    fn of(before: &Summary, after: &Summary) -> Self {
        Self {
            first_before: before.first_attempt_success,
            first_after: after.first_attempt_success,
            done_before: before.success,
            done_after: after.success,
            with_skill: after.skill_use,
        }
    }
}

/// A figure: its name, its value and its bound.
type Row = (&'static str, fn(&Learned) -> f64, Bound);

const ROWS: [Row; 11] = [
    (
        "first attempt, hidden, before",
        |one| one.hidden.first_before,
        Bound::Below(0.03),
    ),
    (
        "first attempt, hidden, after learning",
        |one| one.hidden.first_after,
        Bound::AtLeast(0.8),
    ),
    (
        "done, hidden, before",
        |one| one.hidden.done_before,
        Bound::None,
    ),
    (
        "done, hidden, after learning",
        |one| one.hidden.done_after,
        Bound::None,
    ),
    (
        "hidden tasks with a skill in the prompt",
        |one| one.hidden.with_skill,
        Bound::None,
    ),
    (
        "first attempt, plain, before",
        |one| one.plain.first_before,
        Bound::None,
    ),
    (
        "first attempt, plain, after learning",
        |one| one.plain.first_after,
        Bound::AtLeast(0.9),
    ),
    (
        "first attempt, plain: lost by learning",
        |one| one.plain.first_before - one.plain.first_after,
        Bound::AtMost(0.0),
    ),
    (
        "attempts at plain tasks in learning that are done",
        |one| one.sampled,
        Bound::AtLeast(0.9),
    ),
    (
        "plain tasks with a skill in the prompt",
        |one| one.plain.with_skill,
        Bound::AtMost(0.03),
    ),
    (
        "skills in the library",
        |one| one.skills as f64,
        Bound::None,
    ),
];

/// Measures and records.
pub(super) fn record(figures: &mut Figures<'_>, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let parts = Parts::load(path, STEPS)?;
    let key = key(&parts, "quickstart by chat");
    let learned: Learned = figures.once(&key, || Ok(learn(&parts, seed)?))?;
    for (name, value, bound) in ROWS {
        figures.record(&format!("quickstart: {name}"), value(&learned), bound);
    }
    Ok(())
}

fn learn(parts: &Parts, seed: Seed) -> Result<Learned> {
    let runs = runs(parts, seed, &Tasks::of(seed, SPLIT)?)?;
    let [before, after] = [&runs.before, &runs.after].map(Summaries::of);
    Ok(Learned {
        hidden: Phases::of(&before.hidden, &after.hidden),
        plain: Phases::of(&before.plain, &after.plain),
        sampled: plain_done(&runs.learned),
        skills: runs.skills,
    })
}

/// Runs what the quickstart runs: the held-out tasks, the stream, the held-out tasks again.
pub(super) fn runs(parts: &Parts, seed: Seed, tasks: &Tasks) -> Result<Runs> {
    let mut recipe = standard(CHOICE, true);
    recipe.attempts.group = GROUP;
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let session = parts.open(recipe, "quickstart", seed, store, None).await?;
        let before = session.evaluate(tasks.held_out.clone()).await?;
        let learned = session.learn(tasks.stream.clone()).await?;
        let after = session.evaluate(tasks.held_out.clone()).await?;
        let library = session.library().await?;
        let entries = library.entries();
        Ok(Runs {
            before,
            learned,
            after,
            skills: entries.filter(|one| one.skill.state.is_offered()).count(),
        })
    })
}

/// The share of all attempts at plain tasks that were done.
fn plain_done(report: &RunReport) -> f64 {
    let plain = |task: &&TaskReport| task.tags.iter().any(|tag| tag == "plain");
    let attempts = report.tasks.iter().filter(plain);
    let done: Vec<bool> = attempts
        .flat_map(|task| &task.attempts)
        .map(|attempt| attempt.success == Some(true))
        .collect();
    done.iter().filter(|&&done| done).count() as f64 / done.len() as f64
}
