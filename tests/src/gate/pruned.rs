//! Decisions in which candidates are dropped after a few tokens, beside whole ones.

use journeyman::{Seed, select::EarlyDrop};

use super::{scoring::QUERY, table::best_of};
use crate::figures::{Bound, Figures};

/// Decisions that are drawn, and candidates of each.
const DECISIONS: u64 = 2_000;
const AMONG: usize = 10;

/// The share of decisions that stay the same, and the tokens that are scored.
pub(super) fn record(figures: &mut Figures<'_>, queries: &[Vec<Vec<f64>>], threshold: f64) {
    let seed = figures.options().seed;
    let drop = EarlyDrop::default();
    let (mut same, mut made, mut tokens) = (0_u64, 0_u64, 0_usize);
    for number in 0..DECISIONS {
        let seed = seed.derive("decision", number);
        let Some(task) = Seed(seed.0).index(queries.len()) else {
            return;
        };
        let mut candidates: Vec<(u64, usize)> = (queries[task].iter().enumerate())
            .filter(|(_, scored)| !scored.is_empty())
            .map(|(at, _)| (seed.derive("candidate", at as u64).0, at))
            .collect();
        candidates.sort_unstable();
        candidates.truncate(AMONG);
        let sum = |at: usize, most: usize| queries[task][at].iter().take(most).sum::<f64>();
        let whole = best_of(candidates.iter().map(|&(_, at)| (at, sum(at, QUERY))));
        let first: Vec<f64> = (candidates.iter())
            .map(|&(_, at)| sum(at, drop.tokens.get()))
            .collect();
        let left = candidates.iter().zip(drop.left(&first));
        let left = left.filter_map(|(&(_, at), stays)| stays.then_some(at));
        let left: Vec<usize> = left.collect();
        let Some(length) = left.first().map(|&at| queries[task][at].len()) else {
            continue;
        };
        tokens += candidates.len() * drop.tokens.get().min(length);
        if length > drop.tokens.get() {
            tokens += left.len() * length;
        }
        let pruned = best_of(left.iter().map(|&at| (at, sum(at, QUERY))));
        let decided = |best: Option<(usize, f64)>| best.filter(|(_, value)| *value > threshold);
        let ids = |best: Option<(usize, f64)>| decided(best).map(|(at, _)| at);
        same += u64::from(ids(pruned) == ids(whole));
        made += 1;
    }
    figures.record(
        "pruned and whole: the same decision, % of 2,000",
        100.0 * same as f64 / made.max(1) as f64,
        Bound::AtLeast(99.9),
    );
    figures.record(
        "pruned: tokens of queries scored in a decision",
        tokens as f64 / made.max(1) as f64,
        Bound::None,
    );
}
