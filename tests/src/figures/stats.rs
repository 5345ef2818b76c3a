//! The statistics of figures.

use std::collections::BTreeMap;

use journeyman::Seed;
use journeyman_experiment::Spread;
use rand_chacha::rand_core::Rng;

pub(crate) use super::median::median;

/// The mean; NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample's standard deviation (divided by n - 1); NaN of fewer than two.
pub fn sample_sd(values: &[f64]) -> f64 {
    let spread = Spread::of(values);
    spread.and_then(|spread| spread.sd).unwrap_or(f64::NAN)
}

/// A mean with its two-sided 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Of how many.
    pub n: usize,
}

/// The mean of values with its interval by Student's t. NaN ends of fewer than two; a width of 0 when all values
/// are the same.
pub fn t_interval(values: &[f64]) -> Interval {
    let interval = Spread::of(values).and_then(|spread| spread.interval());
    let (low, high) = interval.unwrap_or((f64::NAN, f64::NAN));
    Interval {
        mean: mean(values),
        low,
        high,
        n: values.len(),
    }
}

/// The mean of `one` less `other` over the same worlds, in the same order, with its interval by Student's t.
pub fn paired(one: &[f64], other: &[f64]) -> Interval {
    let pairs = one.iter().zip(other);
    let differences: Vec<f64> = pairs.map(|(one, other)| one - other).collect();
    t_interval(&differences)
}

/// Of each case 1 where it holds, else 0.
pub fn flags(holds: &[bool]) -> Vec<f64> {
    let each = holds.iter().map(|holds| f64::from(u8::from(*holds)));
    each.collect()
}

/// A share, given as 100 or 0 for each case, in percent, with its interval by Wilson's score (1927): unlike Student's it has a width
/// where all cases are alike. NaN ends of none.
pub fn share_interval(percent: &[f64]) -> Interval {
    const Z: f64 = 1.959_963_984_540_054;
    let n = percent.len() as f64;
    let share = mean(percent) / 100.0;
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let spread = share * (1.0 - share) / n + Z * Z / (4.0 * n * n);
    let half = Z / (1.0 + Z * Z / n) * spread.sqrt();
    Interval {
        mean: 100.0 * share,
        low: 100.0 * (middle - half).max(0.0),
        high: 100.0 * (middle + half).min(1.0),
        n: percent.len(),
    }
}

/// The mean difference `after - before` over the same tasks, in the same order. Tasks of one cluster are alike, so the
/// interval is that of a bootstrap over clusters: whole clusters are drawn with replacement, as many as there are, and
/// the mean is over the tasks drawn; of `resamples` such means the 2.5th and the 97.5th percentile.
///
/// # Errors
/// When the three are not of one length, or there are no tasks or resamples.
pub fn clustered(
    before: &[f64],
    after: &[f64],
    clusters: &[String],
    seed: Seed,
    resamples: usize,
) -> Result<Interval, String> {
    let differences = differences(before, after)?;
    if clusters.len() != differences.len() {
        return Err(format!(
            "{} tasks, {} labels of clusters",
            differences.len(),
            clusters.len()
        ));
    }
    if differences.is_empty() || resamples == 0 {
        return Err("a bootstrap needs tasks and resamples".to_owned());
    }
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for (difference, cluster) in differences.iter().zip(clusters) {
        let (sum, n) = sums.entry(cluster).or_default();
        *sum += difference;
        *n += 1;
    }
    let sums: Vec<(f64, usize)> = sums.into_values().collect();
    let mut rng = seed.rng();
    let means: Vec<f64> = (0..resamples)
        .map(|_| {
            let (mut total, mut tasks) = (0.0, 0);
            for _ in 0..sums.len() {
                let (sum, n) = sums[(rng.next_u64() % sums.len() as u64) as usize];
                total += sum;
                tasks += n;
            }
            total / tasks as f64
        })
        .collect();
    let (low, high) = ends(means);
    Ok(Interval {
        mean: mean(&differences),
        low,
        high,
        n: differences.len(),
    })
}

/// A statistic of tasks, which are given by their places, with the interval of the bootstrap of [`clustered`].
///
/// # Errors
/// When there are no tasks or resamples.
pub fn clustered_of(
    statistic: impl Fn(&[usize]) -> f64,
    clusters: &[String],
    seed: Seed,
    resamples: usize,
) -> Result<Interval, String> {
    if clusters.is_empty() || resamples == 0 {
        return Err("a bootstrap needs tasks and resamples".to_owned());
    }
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, cluster) in clusters.iter().enumerate() {
        members.entry(cluster).or_default().push(place);
    }
    let members: Vec<Vec<usize>> = members.into_values().collect();
    let mut rng = seed.rng();
    let mut values = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        let mut drawn = Vec::new();
        for _ in 0..members.len() {
            let cluster = (rng.next_u64() % members.len() as u64) as usize;
            drawn.extend(&members[cluster]);
        }
        values.push(statistic(&drawn));
    }
    let (low, high) = ends(values);
    let all: Vec<usize> = (0..clusters.len()).collect();
    Ok(Interval {
        mean: statistic(&all),
        low,
        high,
        n: clusters.len(),
    })
}

/// A share, given as 100 or 0 for each case, or by the share of its own parts, in percent, with the wider one of two intervals at each end:
/// that of [`clustered`], and Wilson's, which has a width where all cases are alike.
///
/// # Errors
/// As [`clustered`].
pub fn clustered_share(
    percent: &[f64],
    clusters: &[String],
    seed: Seed,
    resamples: usize,
) -> Result<Interval, String> {
    let before = vec![0.0; percent.len()];
    let drawn = clustered(&before, percent, clusters, seed, resamples)?;
    let alone = share_interval(percent);
    Ok(Interval {
        low: drawn.low.min(alone.low),
        high: drawn.high.max(alone.high),
        ..drawn
    })
}

/// The 2.5th and the 97.5th percentile of values of which there is one at least.
fn ends(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let low = ((0.025 * values.len() as f64) as usize).min(last);
    (values[low], values[last - low])
}

fn differences(before: &[f64], after: &[f64]) -> Result<Vec<f64>, String> {
    if before.len() != after.len() {
        return Err(format!(
            "{} tasks before, {} after",
            before.len(),
            after.len()
        ));
    }
    Ok(after
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expect: f64, within: f64) {
        assert!((found - expect).abs() < within, "{found} is not {expect}");
    }

    #[test]
    fn the_median_is_the_middle() {
        assert!(median(Vec::new()).is_nan());
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut [2.0, 1.0]), 1.5);
        assert_eq!(median(&mut [7.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn mean_and_spread() {
        near(mean(&[1.0, 2.0, 6.0]), 3.0, 1e-12);
        near(
            sample_sd(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]),
            2.138_089_935,
            1e-9,
        );
        assert!(mean(&[]).is_nan() && sample_sd(&[1.0]).is_nan());
    }

    #[test]
    fn student_t_by_hand() {
        // Mean 0.6, sd 0.5477, half-width 2.7764 * 0.5477 / sqrt(5) = 0.68.
        let interval = t_interval(&[1.0, 0.0, 1.0, 1.0, 0.0]);
        near(interval.mean, 0.6, 1e-12);
        near(interval.low, -0.080_1, 1e-3);
        near(interval.high, 1.280_1, 1e-3);
        assert_eq!(interval.n, 5);
        let pairs = paired(&[3.0, 1.0, 2.0, 5.0, 1.0], &[2.0, 1.0, 1.0, 4.0, 1.0]);
        assert_eq!(pairs, interval);
        let (none, one) = (t_interval(&[]), t_interval(&[2.0]));
        assert!(none.mean.is_nan() && none.low.is_nan());
        assert!(one.mean == 2.0 && one.low.is_nan() && one.high.is_nan());
    }

    /// The interval of differences by task, from a `before` of zeros.
    fn boot(after: &[f64], cluster: impl Fn(usize) -> usize, seed: u64) -> Interval {
        let clusters: Vec<String> = (0..after.len()).map(|i| cluster(i).to_string()).collect();
        let before = vec![0.0; after.len()];
        clustered(&before, after, &clusters, Seed(seed), 4000).unwrap()
    }

    #[test]
    fn a_bootstrap_over_two_clusters_by_hand() {
        // Of two draws from {3 tasks of 1, 1 task of 0}, a quarter gives 0, a quarter 1, and half 3/4.
        let interval = boot(&[1.0, 1.0, 1.0, 0.0], |i| i / 3, 1);
        assert_eq!(
            (interval.mean, interval.low, interval.high, interval.n),
            (0.75, 0.0, 1.0, 4)
        );
    }

    #[test]
    fn clusters_that_are_identical_leave_no_spread() {
        let after: Vec<f64> = (0..300).map(|i| f64::from(i % 3 == 0)).collect();
        let interval = boot(&after, |i| i / 30, 1);
        near(interval.low, interval.mean, 1e-12);
        near(interval.high, interval.mean, 1e-12);
        let alone = boot(&after, |_| 0, 1);
        near(alone.low, alone.high, 1e-12);
    }

    #[test]
    fn a_bootstrap_repeats_by_seed_and_agrees_with_student_on_single_tasks() {
        let after: Vec<f64> = (0..300)
            .map(|i| f64::from(i % 4 != 0) - f64::from(i % 3 == 0))
            .collect();
        let single = boot(&after, |i| i, 1);
        assert_eq!(single, boot(&after, |i| i, 1));
        let student = t_interval(&after);
        near(single.low, student.low, 0.01);
        near(single.high, student.high, 0.01);
    }

    #[test]
    fn tasks_that_are_alike_widen_the_interval() {
        // Every tool is done always or never: 300 tasks say as much as 24.
        let after: Vec<f64> = (0..300).map(|i| f64::from(i % 24 < 12)).collect();
        let (single, tools) = (boot(&after, |i| i, 1), boot(&after, |i| i % 24, 1));
        assert!(
            tools.high - tools.low > 3.0 * (single.high - single.low),
            "{tools:?} {single:?}"
        );
    }

    #[test]
    fn a_bootstrap_of_any_statistic_draws_the_same_clusters() {
        let after: Vec<f64> = (0..60).map(|i| f64::from(i % 5 == 0)).collect();
        let of_means = boot(&after, |i| i / 7, 1);
        let clusters: Vec<String> = (0..60).map(|i: usize| (i / 7).to_string()).collect();
        let statistic =
            |drawn: &[usize]| mean(&drawn.iter().map(|&at| after[at]).collect::<Vec<_>>());
        let of_any = clustered_of(statistic, &clusters, Seed(1), 4000).unwrap();
        near(of_any.mean, of_means.mean, 1e-9);
        near(of_any.low, of_means.low, 1e-9);
        near(of_any.high, of_means.high, 1e-9);
        assert!(clustered_of(statistic, &[], Seed(1), 10).is_err());
    }

    #[test]
    fn a_share_of_clusters_is_never_surer_than_one_of_single_cases() {
        let clusters: Vec<String> = (0..20).map(|i: usize| (i / 5).to_string()).collect();
        let check = |percent: &[f64], is_wider: bool| {
            let found = clustered_share(percent, &clusters, Seed(1), 4000).unwrap();
            let alone = share_interval(percent);
            near(found.mean, mean(percent), 1e-9);
            assert!(
                found.low <= alone.low && found.high >= alone.high,
                "{found:?} {alone:?}"
            );
            assert_eq!(
                found.high > alone.high + 1.0,
                is_wider,
                "{found:?} {alone:?}"
            );
        };
        // One cluster of four as a whole, and none.
        let one: Vec<f64> = (0..20).map(|i| if i < 5 { 100.0 } else { 0.0 }).collect();
        check(&one, true);
        check(&[0.0; 20], false);
    }

    #[test]
    fn a_bootstrap_of_wrong_input_says_so() {
        let check = |before: &[f64], after: &[f64], clusters: &[&str], resamples, expect: &str| {
            let clusters: Vec<String> = clusters.iter().map(|&c| c.to_owned()).collect();
            let found = clustered(before, after, &clusters, Seed(1), resamples);
            assert_eq!(found.unwrap_err(), expect);
        };
        check(&[0.0], &[], &["a"], 10, "1 tasks before, 0 after");
        check(&[0.0], &[1.0], &[], 10, "1 tasks, 0 labels of clusters");
        check(&[], &[], &[], 10, "a bootstrap needs tasks and resamples");
        check(
            &[0.0],
            &[1.0],
            &["a"],
            0,
            "a bootstrap needs tasks and resamples",
        );
    }
}
