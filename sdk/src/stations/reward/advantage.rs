//! Group-relative advantages, and the attempts that a skill is written from (ARISE Eq. 5, 10 to 13; C.3).

/// The epsilon of Eq. 5 that reports and exports use: it is added to the standard deviation.
pub const ADVANTAGE_EPSILON: f64 = 1e-8;

/// The advantage of each attempt of a group: `(r - mean) / (std + epsilon)`, with the population's standard
/// deviation (ARISE Eq. 5, 10-13). `epsilon` is finite and at least 0; [`ADVANTAGE_EPSILON`] is the SDK's own.
///
/// `None` for a group without information: no rewards, equal rewards (dropped by dynamic sampling, A.2), or rewards
/// that are not finite or too large to be averaged.
///
/// ```
/// use journeyman::stations::reward::advantages;
///
/// assert_eq!(advantages(&[2.0, 0.0], 0.0), Some(vec![1.0, -1.0]));
/// assert_eq!(advantages(&[2.0, 2.0], 0.0), None);
/// ```
pub fn advantages(rewards: &[f64], epsilon: f64) -> Option<Vec<f64>> {
    let first = rewards.first()?;
    // The rewards themselves are compared, since rounding can make the deviation of equal rewards positive.
    if rewards.iter().all(|reward| reward == first) {
        return None;
    }
    let count = rewards.len() as f64;
    let mean = rewards.iter().sum::<f64>() / count;
    let variance = rewards.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / count;
    let scale = variance.sqrt() + epsilon;
    let advantages: Vec<f64> = rewards.iter().map(|r| (r - mean) / scale).collect();
    advantages
        .iter()
        .all(|advantage| advantage.is_finite())
        .then_some(advantages)
}

/// The attempts that a skill is written from (tau+), as indices into the group, the greatest reward first and
/// of equal rewards the smaller index.
///
/// These are the successful attempts of positive advantage. A group of equal rewards has no advantages, but C.3 writes
/// skills from it, too: then these are all successful attempts, that is all of an all-correct group and none of an
/// all-failed one. An attempt without an entry in both slices counts as not successful.
///
/// ```
/// use journeyman::stations::reward::positive_traces;
///
/// assert_eq!(positive_traces(&[1.0, 0.0, 2.0, 0.0], &[true, false, true, false]), [2, 0]);
/// assert_eq!(positive_traces(&[1.0, 1.0], &[true, true]), [0, 1]);
/// assert!(positive_traces(&[0.0, 0.0], &[false, false]).is_empty());
/// ```
pub fn positive_traces(rewards: &[f64], successes: &[bool]) -> Vec<usize> {
    // The sign does not depend on epsilon.
    let advantages = advantages(rewards, 0.0);
    let mut traces: Vec<usize> = (0..rewards.len().min(successes.len()))
        .filter(|&i| successes[i])
        .filter(|&i| {
            advantages
                .as_ref()
                .is_none_or(|advantages| advantages[i] > 0.0)
        })
        .collect();
    traces.sort_by(|&a, &b| rewards[b].total_cmp(&rewards[a]).then(a.cmp(&b)));
    traces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_3_in_closed_form() {
        // n0 = 2, n1 = 1, n2 = 5 of 8: mean 11/8, so the reward 1 has a negative advantage (Eq. 12).
        let rewards = [2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.0, 0.0];
        let mean: f64 = 11.0 / 8.0;
        let std = ((1.0 * (1.0 - mean).powi(2) + 5.0 * (2.0 - mean).powi(2) + 2.0 * mean.powi(2))
            / 8.0)
            .sqrt();
        let found = advantages(&rewards, 1e-6).unwrap();
        for (reward, advantage) in rewards.iter().zip(&found) {
            assert!((advantage - (reward - mean) / (std + 1e-6)).abs() < 1e-12);
        }
        assert!(found[0] > 0.0 && found[5] < 0.0 && found[6] < found[5]);
    }

    #[test]
    fn groups_without_information() {
        let check = |rewards: &[f64]| assert_eq!(advantages(rewards, 1e-6), None, "{rewards:?}");
        check(&[]);
        check(&[1.0]);
        check(&[0.1; 3]);
        check(&[f64::NAN, 1.0]);
        check(&[f64::INFINITY, 1.0]);
        check(&[f64::MAX, f64::MAX, 0.0]);
    }

    #[test]
    fn traces() {
        let check = |rewards: &[f64], successes: &[u8], expect: &[usize]| {
            let successes: Vec<bool> = successes.iter().map(|&s| s == 1).collect();
            assert_eq!(positive_traces(rewards, &successes), expect, "{rewards:?}");
        };
        check(&[], &[], &[]);
        check(&[0.0, 0.0], &[0, 0], &[]);
        check(&[1.0, 1.0], &[1, 1], &[0, 1]);
        check(&[1.0], &[1], &[0]);
        check(&[1.0, 2.0, 2.0, 0.0], &[1, 1, 1, 0], &[1, 2]);
        // With a mean above 1 an unaided success has a negative advantage.
        check(&[1.0, 2.0, 2.0, 2.0], &[1, 1, 1, 1], &[1, 2, 3]);
        // With a composite reward a failure may have a positive advantage; no skill is written from it.
        check(&[0.9, 0.1], &[0, 1], &[]);
        check(&[2.0, 1.0, 0.0], &[1], &[0]);
    }
}
