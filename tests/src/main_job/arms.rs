//! The quickstart's held-out tasks: no library, the learned one behind each way to choose, and one that holds nothing
//! relevant.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, Seed, builtin::MemoryStore, contract::SkillStore, domain::Committed, recipe,
    run::RunReport,
};
use quickstart::{Choice, Parts, Split, Summaries, Tasks, selector};
use serde::{Deserialize, Serialize};

use super::library;
use crate::figures::{Bound, Figures, Outcome, stats};

const SPLIT: Split = Split {
    stream: 48,
    held_out: 300,
};

/// One way to choose, and what came of it.
#[derive(Debug, Serialize, Deserialize)]
struct Arm {
    first: Vec<bool>,
    hidden: Vec<bool>,
    success: f64,
    tokens: f64,
    skill_use: f64,
}

impl Arm {
    fn of(report: &RunReport) -> Self {
        let sums = Summaries::of(report);
        Self {
            first: Summaries::first_attempts(report),
            hidden: report
                .tasks
                .iter()
                .map(|task| task.tags.iter().any(|tag| tag == "hidden"))
                .collect(),
            success: sums.all.success,
            tokens: sums.all.tokens,
            skill_use: sums.all.skill_use,
        }
    }

    fn values(&self) -> Vec<f64> {
        self.first
            .iter()
            .map(|first| f64::from(u8::from(*first)))
            .collect()
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
}

/// Every way to choose but the default, as it is named.
const OTHERS: [(&str, Choice, bool); 5] = [
    ("gate mean", Choice::Mean, true),
    ("gate sum", Choice::Sum, true),
    ("pmi without gate", Choice::Pmi, false),
    ("bm25 first", Choice::Bm25, false),
    ("random", Choice::Random, false),
];

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let tasks = Tasks::of(seed, SPLIT)?;
    let learned: Vec<Committed> = figures.once("learned library", || {
        Ok(block_on(learn(parts, seed, &tasks))?)
    })?;
    let right = library::fully_right(&learned, &tasks)?;
    figures.record("library.skills", right.skills as f64, Bound::None);
    figures.record("library.fully right", right.share, Bound::None);

    let irrelevant = library::irrelevant(seed, &tasks)?;
    let arm = |figures: &mut Figures<'_>, name: &str, committed: &[Committed], choice, gated| {
        let arm: Result<Arm, _> = figures.once(&format!("arm {name}"), || {
            let report = block_on(evaluate(parts, seed, &tasks, committed, choice, gated))?;
            Ok(Arm::of(&report))
        });
        arm.inspect(|arm| report(figures, name, arm))
    };
    let none = arm(figures, "none", &learned, Choice::None, true)?;
    let gate = arm(figures, "gate pmi", &learned, Choice::Pmi, true)?;
    let mut others = Vec::new();
    for (name, choice, gated) in OTHERS {
        others.push((name, arm(figures, name, &learned, choice, gated)?));
    }
    let beside = arm(figures, "nothing relevant", &irrelevant, Choice::Pmi, true)?;

    figures.record(
        "held-out tasks",
        none.first.len() as f64,
        Bound::AtLeast(300.0),
    );
    let gain = stats::paired(&none.values(), &gate.values())?;
    figures.interval("gate pmi over none", &gain, Bound::Above(0.3), Bound::None);
    for (name, other) in &others {
        let over = stats::paired(&gate.values(), &other.values())?;
        figures.interval(
            &format!("{name} over gate pmi"),
            &over,
            Bound::AtMost(0.0),
            Bound::None,
        );
    }
    let harm = stats::paired(&none.values(), &beside.values())?;
    figures.interval(
        "nothing relevant over none",
        &harm,
        Bound::AtLeast(-0.02),
        Bound::None,
    );
    Ok(())
}

async fn learn(parts: &Parts, seed: Seed, tasks: &Tasks) -> Result<Vec<Committed>> {
    let store = Arc::new(MemoryStore::new());
    let mut recipe = recipe::standard();
    recipe.selector = selector(Choice::Pmi, true);
    let journeyman = parts
        .open(recipe, "learn", seed, store.clone(), None)
        .await?;
    journeyman.learn(tasks.stream.clone()).await?;
    Ok(store.load().await?.committed)
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
) -> Result<RunReport> {
    let mut recipe = recipe::standard();
    recipe.selector = selector(choice, gated);
    let store = library::store(committed).await?;
    parts
        .open(recipe, "evaluate", seed, store, None)
        .await?
        .evaluate(tasks.held_out.clone())
        .await
}
