//! Decisions in which candidates are dropped after a few tokens, beside whole ones. No session drops any: what it would decide follows from
//! the scores of the first tokens.

use journeyman::Seed;

use super::{
    intervals::{Categories, bounded},
    matrix::{CANDIDATES, Matrix},
};
use crate::figures::{Bound, Figures, Outcome};

/// Decisions that are drawn in each half of the categories.
const DECISIONS: usize = 2_000;

/// A decision among candidates that were drawn of a task's.
struct Drawn {
    /// How far each lies below the best one behind the first tokens, nats.
    below: Vec<f64>,
    /// The same of the one that is best behind all tokens: a margin from there on keeps the decision.
    chosen: f64,
}

/// Draws a decision, by what the first tokens of each skill and all of them give behind the task.
fn draw((early, whole): (&[f64], &[f64]), seed: Seed) -> Drawn {
    let mut drawn: Vec<(u64, usize)> = (0..whole.len())
        .filter(|&at| whole[at].is_finite())
        .map(|at| (seed.derive("candidate", at as u64).0, at))
        .collect();
    drawn.sort_unstable();
    drawn.truncate(CANDIDATES);
    let candidates = || drawn.iter().map(|(_, at)| *at);
    let best = candidates()
        .map(|at| early[at])
        .fold(f64::NEG_INFINITY, f64::max);
    let chosen = candidates().max_by(|&one, &other| whole[one].total_cmp(&whole[other]));
    Drawn {
        below: candidates().map(|at| best - early[at]).collect(),
        chosen: chosen.map_or(0.0, |at| best - early[at]),
    }
}

/// Of each task its decisions, as many as of any other one.
fn decisions(tasks: &[usize], (early, whole): (&Matrix, &Matrix), seed: Seed) -> Vec<Vec<Drawn>> {
    let of = |(place, &task): (usize, &usize)| {
        let numbers = (place..DECISIONS).step_by(tasks.len());
        let drawn = numbers.map(|number| {
            let seed = seed.derive("decision", number as u64);
            draw((&early[task], &whole[task]), seed)
        });
        drawn.collect()
    };
    tasks.iter().enumerate().map(of).collect()
}

/// How many of these a margin keeps, in percent.
fn within(values: impl Iterator<Item = f64>, margin: f64) -> f64 {
    let (mut kept, mut all) = (0_usize, 0_usize);
    for value in values {
        kept += usize::from(value <= margin);
        all += 1;
    }
    100.0 * kept as f64 / all.max(1) as f64
}

/// Records the share of decisions that stay the same with a margin by which all of the other half do, and what of the candidates is then
/// scored to its end.
pub(super) fn record(
    figures: &mut Figures<'_>,
    categories: &Categories,
    (tuning, reported): (&[usize], &[usize]),
    scores: (&Matrix, &Matrix),
) -> Outcome {
    let seed = figures.options().seed;
    let others = decisions(tuning, scores, seed);
    let margin = (others.iter().flatten()).fold(0.0, |most, one| f64::max(most, one.chosen));
    let reported = decisions(reported, scores, seed);
    let same = |of_task: &Vec<Drawn>| within(of_task.iter().map(|one| one.chosen), margin);
    // Decisions about one task are alike, so that each task counts as one case.
    let same: Vec<f64> = reported.iter().map(same).collect();
    bounded(
        figures,
        "pruned and whole: the same decision, % of 2,000",
        &categories.share(&same)?,
        Bound::AtLeast(99.9),
    );
    let below = reported.iter().flatten().flat_map(|one| &one.below);
    let ended = within(below.copied(), margin);
    for (what, value) in [
        ("the margin, nats", margin),
        ("candidates scored to their end, %", ended),
    ] {
        figures.record(&format!("pruned: {what}"), value, Bound::None);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_keeps_a_decision_from_where_the_chosen_one_lies() {
        let nothing = f64::NEG_INFINITY;
        // The second is best behind all tokens, and 3 nats below the first before.
        let (early, whole) = ([5.0, 2.0, -1.0, nothing], [6.0, 9.0, -4.0, nothing]);
        let drawn = draw((&early, &whole), Seed(1));
        assert_eq!(drawn.chosen, 3.0);
        let mut below = drawn.below;
        below.sort_by(f64::total_cmp);
        assert_eq!(below, [0.0, 3.0, 6.0]);
    }

    #[test]
    fn each_task_has_as_many_decisions() {
        let scores = vec![vec![1.0, 0.0]; 7];
        let drawn = decisions(&[0, 3, 6], (&scores, &scores), Seed(1));
        let counts: Vec<usize> = drawn.iter().map(Vec::len).collect();
        assert_eq!(counts, [667, 667, 666]);
        assert!(drawn.iter().flatten().all(|one| one.chosen == 0.0));
    }
}
