//! Does it help: how often what is said of a skill is wrong on streams with a known truth, and how many attempts it takes.

mod attempts;
mod cost;
mod drift;
mod harm;
mod injections;
mod lifts;
mod many;
mod neighbours;
mod other_model;
mod pairs;
mod services;
mod streams;
mod world;

pub use self::{
    injections::run as run_injections, neighbours::run as run_neighbours,
    other_model::run as run_other_model, world::run as run_world,
};

use crate::figures::{Bound, Figures, Outcome};

/// Simulated runs of a point.
const RUNS: usize = 2_000;
/// The error that intervals and verdicts are asked for.
const ERROR: f64 = 0.05;

/// The parts, the long ones last.
const PARTS: [fn(&mut Figures<'_>) -> Outcome; 10] = [
    lifts::run,
    many::run,
    pairs::run,
    harm::run,
    drift::run,
    cost::run,
    world::run,
    injections::run,
    neighbours::run,
    other_model::run,
];

/// Measures and records. A part that fails does not take the figures of the others with it.
///
/// # Errors
/// The first one of its parts, after all of them.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let mut failure = None;
    for part in PARTS {
        if let Err(error) = part(figures) {
            figures.progress(format_args!("could not measure: {error}"));
            failure.get_or_insert(error);
        }
    }
    failure.map_or(Ok(()), Err)
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
