//! What a score does: which skill it has first, and whether it refuses where no right one is there.

use super::{data::Set, matrix::Matrix};
use crate::figures::stats;

/// A share of injections, where no right skill is there, that is let through.
pub(super) const WRONG: f64 = 0.05;

/// The best right and the best wrong value of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    pub(super) right: f64,
    pub(super) wrong: f64,
}

pub(super) fn best(set: &Set, values: &Matrix, tasks: &[usize]) -> Vec<Best> {
    let of = |task: usize, right: bool| {
        let all = (0..set.skills.len()).filter(|&skill| set.is_right(task, skill) == right);
        all.map(|skill| values[task][skill])
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let both = |&task: &usize| Best {
        right: of(task, true),
        wrong: of(task, false),
    };
    tasks.iter().map(both).collect()
}

/// The value that at most a share of these exceed.
pub(super) fn quantile(mut values: Vec<f64>, exceed: f64) -> f64 {
    values.sort_by(|one, other| other.total_cmp(one));
    let most = (values.len() as f64 * exceed).floor() as usize;
    values.get(most).copied().unwrap_or(f64::INFINITY)
}

/// Of each task 100 or 0: whether a right skill is first.
pub(super) fn firsts(best: &[Best]) -> Vec<f64> {
    percent(best, |one| one.right > one.wrong)
}

/// Of each task 100 or 0: whether a right skill is first and exceeds the threshold.
pub(super) fn injected(best: &[Best], threshold: f64) -> Vec<f64> {
    percent(best, |one| one.right > one.wrong && one.right > threshold)
}

/// Of each task 100 or 0: whether a skill exceeds the threshold though the right ones were taken away.
pub(super) fn misled(best: &[Best], threshold: f64) -> Vec<f64> {
    percent(best, |one| one.wrong > threshold)
}

fn percent(best: &[Best], holds: impl Fn(&Best) -> bool) -> Vec<f64> {
    let each = best
        .iter()
        .map(|one| 100.0 * f64::from(u8::from(holds(one))));
    each.collect()
}

/// How often the best right value of a task exceeds the best wrong one of another, or of the same: 0.5 is chance.
pub(super) fn separation(best: &[Best]) -> f64 {
    let wins = |right: f64, wrong: f64| match right.total_cmp(&wrong) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let sum: f64 = (best.iter())
        .flat_map(|one| best.iter().map(|other| wins(one.right, other.wrong)))
        .sum();
    sum / (best.len() * best.len()) as f64
}

/// The values less what each skill has at tasks that are not its own (`tuning` tasks alone): its mean, in its deviations.
pub(super) fn against_null(
    set: &Set,
    values: &Matrix,
    tuning: &[usize],
    deviations: bool,
) -> Matrix {
    let nulls: Vec<(f64, f64)> = (0..set.skills.len())
        .map(|skill| {
            let others = tuning.iter().filter(|&&task| !set.is_right(task, skill));
            let others = others.map(|&task| values[task][skill]);
            // Of the tasks at which the skill is a candidate.
            let others: Vec<f64> = others.filter(|value| value.is_finite()).collect();
            let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
            let squares: f64 = others.iter().map(|value| (value - mean).powi(2)).sum();
            let sd = (squares / others.len().saturating_sub(1).max(1) as f64).sqrt();
            (mean, if deviations && sd > 0.0 { sd } else { 1.0 })
        })
        .collect();
    let of_task = |row: &Vec<f64>| {
        let values = row.iter().zip(&nulls);
        values
            .map(|(value, (mean, sd))| (value - mean) / sd)
            .collect()
    };
    values.iter().map(of_task).collect()
}

/// The values in deviations from the mean of the best wrong ones of the tuning tasks: two scores on one scale.
pub(super) fn standardized(set: &Set, values: &Matrix, tuning: &[usize]) -> Matrix {
    let wrong: Vec<f64> = best(set, values, tuning)
        .iter()
        .map(|one| one.wrong)
        .collect();
    let (mean, sd) = (stats::mean(&wrong), stats::sample_sd(&wrong).max(1e-9));
    let rows = values.iter();
    rows.map(|row| row.iter().map(|value| (value - mean) / sd).collect())
        .collect()
}

/// The sums of two scores.
pub(super) fn sum(one: &Matrix, other: &Matrix) -> Matrix {
    let rows = one.iter().zip(other);
    rows.map(|(one, other)| {
        one.iter()
            .zip(other)
            .map(|(one, other)| one + other)
            .collect()
    })
    .collect()
}
