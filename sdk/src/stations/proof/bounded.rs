//! Evidence about means of outcomes in [0, 1] that holds at every look: a mixture of likelihood ratios (Robbins 1970; Howard,
//! Ramdas, McAuliffe and Sekhon 2021, section 3.1), and the difference of the means of two arms by the product of both.

use serde::{Deserialize, Serialize};

/// Steps of a search; with 60 less than 1e-10 of the range is left.
const HALVINGS: usize = 60;

/// The outcomes of one arm, each in [0, 1].
///
/// ```
/// use journeyman::stations::proof::Arm;
///
/// let mut with_skill = Arm::default();
/// [1.0, 1.0, 0.0, 1.0].into_iter().for_each(|outcome| with_skill.add(outcome));
/// assert_eq!(with_skill.mean(), Some(0.75));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Number of outcomes.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
}

impl Arm {
    /// Adds an outcome; one outside of [0, 1] counts as the nearer end, and one that is no number is left out.
    pub fn add(&mut self, outcome: f64) {
        if outcome.is_nan() {
            return;
        }
        self.count += 1;
        self.sum += outcome.clamp(0.0, 1.0);
    }

    /// The mean; `None` without an outcome.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The logarithm of the evidence against a mean: of the mixture, over all alternatives, of the likelihood ratios of a coin.
    /// For outcomes in [0, 1] with this mean it is at most that of a nonnegative martingale that begins at 1, since a likelihood
    /// ratio is convex in the outcome.
    fn against(&self, mean: f64) -> f64 {
        let (done, failed) = (self.sum, (self.count as f64 - self.sum).max(0.0));
        let by = |times: f64, chance: f64| match times > 0.0 {
            true => times * chance.ln(),
            false => 0.0,
        };
        // Jeffreys' prior: Beta(1/2, 1/2), whose constant is pi.
        let mixture = ln_beta(done + 0.5, failed + 0.5) - std::f64::consts::PI.ln();
        mixture - by(done, mean) - by(failed, 1.0 - mean)
    }
}

fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What being given something changes: the outcomes of those that were, and of those that by chance were not.
///
/// Interval and evidence hold at every look: one may look after each outcome, and stop when one likes. The outcomes have to be drawn
/// independently, each arm's with a mean that stays the same over time. Where both arms' means drift together they are about the
/// mean so far; no proof covers that, and the figures `proof` measure one such stream.
///
/// ```
/// use journeyman::stations::proof::Effect;
///
/// let mut effect = Effect::default();
/// for number in 0..200 {
///     effect.given.add(if number % 10 < 9 { 1.0 } else { 0.0 });
///     effect.withheld.add(if number % 10 < 5 { 1.0 } else { 0.0 });
/// }
/// let estimate = effect.estimate().expect("both arms have outcomes");
/// let interval = effect.interval(0.05);
/// assert!((estimate - 0.4).abs() < 1e-9);
/// assert!(interval.low > 0.2 && interval.high < 0.6, "{interval:?}");
/// // A skill without any effect would give so much evidence at any time with a chance of one in a million at most.
/// assert!(effect.evidence_of_gain() > 1e6);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// With it.
    pub given: Arm,
    /// Without it.
    pub withheld: Arm,
}

impl Effect {
    /// The difference of the means; `None` while an arm has no outcome.
    pub fn estimate(&self) -> Option<f64> {
        Some(self.given.mean()? - self.withheld.mean()?)
    }

    /// The interval that has the true difference at every look with a probability of at least `1 - error`; from -1 to 1 while
    /// nothing is known, and for an error that is not above 0.
    pub fn interval(&self, error: f64) -> Interval {
        let (Some(estimate), true) = (self.estimate(), error > 0.0) else {
            return Interval {
                low: -1.0,
                high: 1.0,
            };
        };
        let most = -error.ln();
        let end = |mut inside: f64, mut outside: f64| {
            if self.against(outside) < most {
                return outside;
            }
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(inside, outside);
                match self.against(middle) < most {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            outside
        };
        Interval {
            low: end(estimate, -1.0),
            high: end(estimate, 1.0),
        }
    }

    /// The evidence that it helps: against every difference of 0 or less, at least 0. An e-value: where the difference is 0 or less,
    /// it ever exceeds `x` with a probability of at most `1 / x`.
    pub fn evidence_of_gain(&self) -> f64 {
        self.evidence_above(0.0)
    }

    /// The evidence that it harms: against every difference of 0 or more.
    pub fn evidence_of_harm(&self) -> f64 {
        self.evidence_below(0.0)
    }

    /// The evidence that the difference is above a bound in [-1, 1].
    pub fn evidence_above(&self, bound: f64) -> f64 {
        match self.estimate() {
            Some(estimate) if estimate > bound => self.against(bound).exp(),
            _ => self.least().exp(),
        }
    }

    /// The evidence that the difference is below a bound in [-1, 1].
    pub fn evidence_below(&self, bound: f64) -> f64 {
        match self.estimate() {
            Some(estimate) if estimate < bound => self.against(bound).exp(),
            _ => self.least().exp(),
        }
    }

    /// The logarithm of the evidence against a difference: the least of the products of both arms' evidence over all pairs of
    /// means with this difference.
    pub(crate) fn against(&self, difference: f64) -> f64 {
        // Of the mean without it.
        let (mut low, mut high) = (difference.min(0.0).abs(), 1.0 - difference.max(0.0));
        let both = |mean: f64| {
            let given = (mean + difference).clamp(0.0, 1.0);
            self.given.against(given) + self.withheld.against(mean)
        };
        // Convex in the mean.
        for _ in 0..HALVINGS {
            let third = (high - low) / 3.0;
            let (left, right) = (low + third, high - third);
            match both(left) < both(right) {
                true => high = right,
                false => low = left,
            }
        }
        both(f64::midpoint(low, high))
    }

    /// The logarithm of the least evidence against any pair of means.
    fn least(&self) -> f64 {
        let arm = |arm: &Arm| arm.mean().map_or(0.0, |mean| arm.against(mean));
        arm(&self.given) + arm(&self.withheld)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(count: u64, sum: f64) -> Arm {
        Arm { count, sum }
    }

    #[test]
    fn the_evidence_against_a_mean_is_a_martingale_of_a_coin_with_that_mean() {
        // The mean of the next evidence over both outcomes is the evidence now.
        for (count, sum, mean) in [(0, 0.0, 0.5), (10, 3.0, 0.2), (40, 39.0, 0.9)] {
            let now = arm(count, sum).against(mean).exp();
            let next = |outcome: f64| arm(count + 1, sum + outcome).against(mean).exp();
            let expected = mean * next(1.0) + (1.0 - mean) * next(0.0);
            assert!((expected / now - 1.0).abs() < 1e-9, "{now} {expected}");
        }
    }

    #[test]
    fn without_outcomes_nothing_is_known() {
        let mut effect = Effect::default();
        assert_eq!(effect.estimate(), None);
        let all = Interval {
            low: -1.0,
            high: 1.0,
        };
        assert_eq!(effect.interval(0.05), all);
        assert_eq!(effect.evidence_of_gain(), 1.0);
        // One arm alone says nothing about a difference.
        (0..100).for_each(|_| effect.given.add(1.0));
        assert_eq!(effect.interval(0.05), all);
        assert!(effect.evidence_of_gain() <= 1.0);
    }

    #[test]
    fn the_interval_has_the_estimate_and_shrinks() {
        let mut before = 2.0;
        for scale in [1_u64, 4, 16, 64] {
            let effect = Effect {
                given: arm(50 * scale, 40.0 * scale as f64),
                withheld: arm(10 * scale, 5.0 * scale as f64),
            };
            let Interval { low, high } = effect.interval(0.05);
            assert!(low < 0.3 && 0.3 < high, "{low} {high}");
            assert!(high - low < before, "{low} {high}");
            before = high - low;
            // A smaller error has a wider interval.
            let sure = effect.interval(0.001);
            assert!(sure.low < low && high < sure.high);
        }
        assert!(before < 0.2, "{before}");
    }

    #[test]
    fn the_interval_and_the_evidence_agree() {
        let effect = Effect {
            given: arm(80, 70.0),
            withheld: arm(20, 6.0),
        };
        let error = 0.01;
        let Interval { low, .. } = effect.interval(error);
        let at = effect.evidence_above(low);
        assert!((at * error - 1.0).abs() < 1e-6, "{at}");
        assert!(effect.evidence_of_gain() > 1.0 / error && low > 0.0);
        assert!(effect.evidence_of_harm() < 1.0);
    }

    #[test]
    fn outcomes_out_of_range_count_as_its_ends() {
        let mut arm = Arm::default();
        [-3.0, 7.0, f64::NAN, 0.5]
            .into_iter()
            .for_each(|one| arm.add(one));
        assert_eq!((arm.count, arm.sum), (3, 1.5));
    }

    #[test]
    fn arms_that_are_all_done_or_all_failed_have_finite_intervals() {
        for (given, withheld) in [(20.0, 0.0), (0.0, 20.0), (20.0, 20.0), (0.0, 0.0)] {
            let effect = Effect {
                given: arm(20, given),
                withheld: arm(20, withheld),
            };
            let Interval { low, high } = effect.interval(0.05);
            let estimate = effect.estimate().unwrap();
            assert!(
                low <= estimate && estimate <= high,
                "{low} {estimate} {high}"
            );
            assert!((-1.0..=1.0).contains(&low) && (-1.0..=1.0).contains(&high));
        }
    }
}
