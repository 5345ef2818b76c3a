//! Control of false discoveries over many skills (Wang and Ramdas 2022: e-BH).

/// Which of these e-values are discoveries, so that in the mean at most this share of the discoveries is false, however the
/// evidence depends on each other and whenever one looks: the greatest `k` of them, each at least `n / (rate * k)` of `n`.
///
/// ```
/// use journeyman::stations::proof::discoveries;
///
/// // Alone, 20 is enough for 5%; beside two others that show nothing it is not.
/// assert_eq!(discoveries(&[20.0], 0.05), [true]);
/// assert_eq!(discoveries(&[20.0, 1.0, 0.5], 0.05), [false, false, false]);
/// assert_eq!(discoveries(&[70.0, 1.0, 0.5], 0.05), [true, false, false]);
/// ```
pub fn discoveries(evidence: &[f64], rate: f64) -> Vec<bool> {
    let count = evidence.len() as f64;
    let mut sorted: Vec<f64> = evidence
        .iter()
        .copied()
        .filter(|one| !one.is_nan())
        .collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let mut enough = sorted.iter().enumerate().filter_map(|(before, one)| {
        let needed = count / (rate * (before + 1) as f64);
        (*one >= needed).then_some(*one)
    });
    match enough.next_back() {
        Some(least) => evidence.iter().map(|one| *one >= least).collect(),
        None => vec![false; evidence.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_discoveries_need_less_each() {
        // 2 / (0.05 * 2) = 20 each; one alone of two would need 40.
        assert_eq!(discoveries(&[20.0, 20.0], 0.05), [true, true]);
        assert_eq!(discoveries(&[20.0, 19.0], 0.05), [false, false]);
        assert_eq!(discoveries(&[19.0, 40.0], 0.05), [false, true]);
        assert!(discoveries(&[], 0.05).is_empty());
        assert_eq!(discoveries(&[f64::NAN, f64::INFINITY], 0.05), [false, true]);
    }
}
