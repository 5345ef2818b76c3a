//! The quickstart by the model's own chat template and the general roles: what it learns from a stream.

use std::{num::NonZeroU32, path::Path, sync::Arc};

use futures::executor::block_on;
use journeyman::{Result, Seed, builtin::MemoryStore, contract::LanguageModel, recipe};
use quickstart::{Choice, Parts, Split, Summaries, Tasks, selector};
use serde::{Deserialize, Serialize};

use crate::figures::{Bound, Figures, Outcome};

/// As the quickstart has them.
const SPLIT: Split = Split {
    stream: 48,
    held_out: 96,
};
const GROUP: NonZeroU32 = const { NonZeroU32::new(4).expect("not 0") };
const STEPS: usize = 8;

/// What the quickstart came to, in shares of the held-out tasks with a hidden contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Learned {
    first_before: f64,
    first_after: f64,
    done_before: f64,
    done_after: f64,
    with_skill: f64,
    skills: usize,
}

/// A figure: its name, its value and its bound.
type Row = (&'static str, fn(&Learned) -> f64, Bound);

const ROWS: [Row; 6] = [
    (
        "first attempt, hidden, before",
        |one| one.first_before,
        Bound::None,
    ),
    (
        "first attempt, hidden, after learning",
        |one| one.first_after,
        Bound::AtLeast(0.8),
    ),
    ("done, hidden, before", |one| one.done_before, Bound::None),
    (
        "done, hidden, after learning",
        |one| one.done_after,
        Bound::None,
    ),
    (
        "hidden tasks with a skill in the prompt",
        |one| one.with_skill,
        Bound::None,
    ),
    (
        "skills in the library",
        |one| one.skills as f64,
        Bound::None,
    ),
];

/// Measures, where there is a model, and records.
pub(super) fn record(figures: &mut Figures<'_>, model: Option<&Path>) -> Outcome {
    let seed = figures.options().seed;
    let learned = match model {
        Some(path) => {
            let parts = Parts::load(path, STEPS)?;
            let key = format!("quickstart by chat, {}", parts.model.capabilities().model);
            Some(figures.once(&key, || Ok(learn(&parts, seed)?))?)
        }
        None => None,
    };
    for (name, value, bound) in ROWS {
        let value = learned.as_ref().map_or(f64::NAN, value);
        figures.record(&format!("quickstart: {name}"), value, bound);
    }
    Ok(())
}

fn learn(parts: &Parts, seed: Seed) -> Result<Learned> {
    let tasks = Tasks::of(seed, SPLIT)?.spoken(parts.way, seed)?;
    let mut recipe = recipe::standard();
    recipe.attempts.group = GROUP;
    recipe.select.selector = selector(Choice::Pmi, true);
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let session = parts.open(recipe, "quickstart", seed, store, None).await?;
        let before = Summaries::of(&session.evaluate(tasks.held_out.clone()).await?);
        session.learn(tasks.stream).await?;
        let after = Summaries::of(&session.evaluate(tasks.held_out).await?);
        let library = session.library().await?;
        Ok(Learned {
            first_before: before.hidden.first_attempt_success,
            first_after: after.hidden.first_attempt_success,
            done_before: before.hidden.success,
            done_after: after.hidden.success,
            with_skill: after.hidden.skill_use,
            skills: library
                .entries()
                .filter(|one| one.skill.state.is_offered())
                .count(),
        })
    })
}
