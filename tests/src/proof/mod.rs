//! Does it help: how often what is said of a skill is wrong on streams with a known truth, and how many attempts it takes.

mod lifts;
mod many;
mod pairs;
mod streams;
mod world;

use crate::figures::{Figures, Outcome};

/// Simulated runs of a point.
const RUNS: usize = 2_000;
/// The error that intervals and verdicts are asked for.
const ERROR: f64 = 0.05;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    lifts::run(figures)?;
    many::run(figures)?;
    pairs::run(figures)?;
    world::run(figures)
}

/// A share in percent.
fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of as f64
}
