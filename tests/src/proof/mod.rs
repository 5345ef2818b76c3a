//! Does it help: how often what is said of a skill is wrong on streams with a known truth, and how many attempts it takes.

mod cost;
mod drift;
mod harm;
mod lifts;
mod many;
mod pairs;
mod streams;
mod world;

use crate::figures::{Bound, Figures, Outcome};

/// Simulated runs of a point.
const RUNS: usize = 2_000;
/// The error that intervals and verdicts are asked for.
const ERROR: f64 = 0.05;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    lifts::run(figures)?;
    many::run(figures)?;
    pairs::run(figures)?;
    harm::run(figures)?;
    drift::run(figures)?;
    cost::run(figures)?;
    world::run(figures)
}

/// A share in percent.
fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of as f64
}

/// The bound of a share that is this at most, counted in so many simulated runs: three standard errors more, in percent.
fn at_most(share: f64, runs: usize) -> Bound {
    let error = (share * (1.0 - share) / runs as f64).sqrt();
    Bound::AtMost(100.0 * (share + 3.0 * error))
}
