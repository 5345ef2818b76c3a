//! What a round of maintenance costs as a library grows.

use std::time::Instant;

use futures::executor::block_on;
use journeyman::{
    Result, Seed, recipe,
    run::{AddFate, Journeyman, Options},
    testing::LargeLibrary,
};
use serde::{Deserialize, Serialize};

use crate::figures::{Bound, Figures, Outcome};

const SIZES: [usize; 4] = [1_000, 2_000, 4_000, 10_000];
/// Rounds after the first; their median is the steady time.
const ROUNDS: usize = 5;
/// How much the time of a round may grow with the library: the exponent over all sizes.
const EXPONENT: f64 = 1.2;

/// Times in milliseconds.
#[derive(Serialize, Deserialize)]
struct Rounds {
    first: f64,
    steady: f64,
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    for (library, family) in [("varied", Some(5)), ("all alike", None)] {
        let (mut first, mut steady) = (Vec::new(), Vec::new());
        for size in SIZES {
            let what = format!("maintenance, {library}, {size} skills");
            let made = LargeLibrary::new(size, seed).with_families_of(family.unwrap_or(size));
            let rounds = figures.once(&what, || Ok(block_on(rounds(&made, seed))?))?;
            figures.record(
                &format!("{what}: first round, ms"),
                rounds.first,
                Bound::None,
            );
            figures.record(&format!("{what}: a round, ms"), rounds.steady, Bound::None);
            first.push(rounds.first);
            steady.push(rounds.steady);
        }
        let what = format!("maintenance, {library}");
        let bound = Bound::AtMost(EXPONENT);
        figures.record(
            &format!("{what}: exponent of the first round"),
            exponent(&first),
            bound,
        );
        figures.record(
            &format!("{what}: exponent of a round"),
            exponent(&steady),
            bound,
        );
    }
    Ok(())
}

/// The slope of the logarithm of times over that of sizes, by least squares.
fn exponent(times: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = SIZES
        .iter()
        .zip(times)
        .map(|(size, time)| ((*size as f64).ln(), time.ln()))
        .collect();
    let n = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let across: f64 = points
        .iter()
        .map(|(x, y)| (x - mean_x) * (y - mean_y))
        .sum();
    let along: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    across / along
}

/// A round is five tasks with the maintenance behind them.
async fn rounds(library: &LargeLibrary, seed: Seed) -> Result<Rounds> {
    let mut recipe = recipe::hisme_robust();
    recipe.tiers.cache = 20_000;
    recipe.tiers.reservoir = 20_000;
    let options = Options::new("growth", seed);
    let journeyman = Journeyman::open(library.components(), recipe, options).await?;
    let added = journeyman.add(library.skills(), "a large library").await?;
    let all = added.count(|fate| *fate == AddFate::Added);
    assert_eq!(all, library.skills().len(), "all of them fit");
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        let tasks = library.tasks(round);
        let began = Instant::now();
        journeyman.learn(tasks).await?;
        times.push(1_000.0 * began.elapsed().as_secs_f64());
    }
    let first = times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(Rounds {
        first,
        steady: times[ROUNDS / 2],
    })
}
