//! Skills that the bundled model writes: two of three candidates from each attempt at temperature 0.7.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, Seed, agent::MemoryStore, recipe, run::report::Sameness, stations::admit::Identity,
};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use crate::{
    figures::{Bound, Figures, Outcome, key, recalling},
    recipes::noisy,
};

/// The environment's step budget.
const STEPS: usize = 8;
/// Tasks that are learned from.
const STREAM: usize = 50;
/// Tools with a hidden contract.
const HIDDEN: usize = 16;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Learned {
    pool: u64,
    drafts: usize,
    bytes: usize,
    meaning: usize,
    confirming: usize,
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = recalling(&figures.parts(STEPS)?)?;
    let seed = figures.options().seed;
    let mut pools = Vec::new();
    for (name, identity) in [("bytes", Identity::Bytes), ("meaning", Identity::MEANING)] {
        let key = key(&parts, &format!("sampled, {identity:?}"));
        let learned = figures.once(&key, || Ok(block_on(learn(&parts, seed, identity))?))?;
        for (what, value) in [
            ("skills in the library", learned.pool as f64),
            ("drafts", learned.drafts as f64),
            (
                "drafts with the bytes of a known skill",
                learned.bytes as f64,
            ),
            ("drafts with its meaning", learned.meaning as f64),
            ("drafts that are evidence", learned.confirming as f64),
        ] {
            figures.record(&format!("sampled, {name}: {what}"), value, Bound::None);
        }
        pools.push(learned.pool as f64);
    }
    if let [bytes, meaning] = pools.as_slice() {
        let name = "sampled: skills in the library by meaning, less by bytes";
        figures.record(name, meaning - bytes, Bound::AtMost(0.0));
    }
    Ok(())
}

async fn learn(parts: &Parts, seed: Seed, identity: Identity) -> Result<Learned> {
    let stream = noisy::universe_of(HIDDEN, seed.derive("identity", 1), 0)?.stream(STREAM);
    let tasks = spoken::tasks(&stream, seed)?;
    let mut recipe = recipe::hisme_robust();
    recipe.admit.identity = identity;
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts.open(recipe, "identity", seed, store, None).await?;
    let report = journeyman.learn(tasks).await?;
    let by = |by| report.duplicates().filter(|one| one.by == by).count();
    Ok(Learned {
        pool: report.pool,
        drafts: report.written().count(),
        bytes: by(Sameness::Bytes),
        meaning: by(Sameness::Meaning),
        confirming: report.duplicates().filter(|one| one.confirms).count(),
    })
}
