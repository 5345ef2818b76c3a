//! Intervals of shares and areas over tasks of one category, which are alike.

use journeyman::Seed;

use super::{
    data::Set,
    table::{Best, separation},
};
use crate::figures::{
    Bound, Figures,
    stats::{self, Interval},
};

const RESAMPLES: usize = 4_000;

/// The categories of tasks, over which a bootstrap draws.
pub(super) struct Categories {
    /// Of each task.
    of: Vec<String>,
    seed: Seed,
}

impl Categories {
    pub(super) fn of(set: &Set, tasks: &[usize], seed: Seed) -> Self {
        let of = tasks.iter().map(|&task| set.tasks[task].category.clone());
        Self {
            of: of.collect(),
            seed: seed.derive("resamples", 0),
        }
    }

    /// The share of tasks, given as 100 or 0 for each.
    pub(super) fn share(&self, percent: &[f64]) -> Result<Interval, String> {
        stats::clustered_share(percent, &self.of, self.seed, RESAMPLES)
    }

    /// The mean of what each task has more than before.
    pub(super) fn gain(&self, before: &[f64], after: &[f64]) -> Result<Interval, String> {
        stats::clustered(before, after, &self.of, self.seed, RESAMPLES)
    }

    /// How often right exceeds wrong.
    pub(super) fn separation(&self, best: &[Best]) -> Result<Interval, String> {
        let of = |drawn: &[usize]| {
            let drawn: Vec<Best> = drawn.iter().map(|&at| best[at]).collect();
            separation(&drawn)
        };
        stats::clustered_of(of, &self.of, self.seed, RESAMPLES)
    }
}

/// Records a mean with a bound, and the ends of its interval without one.
pub(super) fn bounded(figures: &mut Figures<'_>, name: &str, interval: &Interval, bound: Bound) {
    figures.record(name, interval.mean, bound);
    for (end, value) in [("low", interval.low), ("high", interval.high)] {
        figures.record(&format!("{name}.{end}"), value, Bound::None);
    }
}
