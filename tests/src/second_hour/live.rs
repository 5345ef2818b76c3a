//! Attempts that are made for customers: whether any of them is an experiment.

use futures::executor::block_on;
use journeyman::{
    Seed,
    domain::{Decision, Outcome},
    recipe,
    run::Options,
};
use shop::desk::tasks;

use super::{Failure, open_with, parts};
use crate::figures::{self, Bound, Figures};

pub(super) fn record(figures: &mut Figures<'_>) -> figures::Outcome {
    let seed = figures.options().seed;
    let random = block_on(begun(seed))?;
    figures.record(
        "random injections in 200 attempts in live use, where the recipe always explores",
        random as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

async fn begun(seed: Seed) -> Result<usize, Failure> {
    let mut recipe = recipe::standard();
    let mut gate = recipe.gate().ok_or("no gate")?;
    gate.epsilon = 1.0;
    recipe.set_gate(gate)?;
    let session = open_with(&parts()?, recipe, Options::new("shop", seed)).await?;
    session.learn(tasks(seed, 90, false)).await?;
    let mut random = 0;
    for task in tasks(seed, 200, true) {
        let attempt = session.begin(task).await?;
        let report = attempt.finish(Outcome::success()).await?;
        let report = report.ok_or("a group of one has a report")?;
        let explored = |one: &&journeyman::domain::Selection| {
            matches!(one.decision, Decision::Inject { explored: true, .. })
        };
        random += report.selections.iter().filter(explored).count();
    }
    Ok(random)
}
