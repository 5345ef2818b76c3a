//! What being given something changes, with evidence that holds at every look.

use serde::{Deserialize, Serialize};

/// Steps from one end of the range to the other in the search for an interval's end, and halvings of a step.
const STEPS: u32 = 128;
const HALVINGS: u32 = 20;

/// What each arm is taken to have seen before its first outcome: two, of which one was done.
const BEFORE: Arm = Arm { count: 2, sum: 1.0 };

/// The outcomes of one arm, each in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Number of outcomes.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
}

impl Arm {
    fn add(&mut self, outcome: f64) {
        self.count += 1;
        self.sum += outcome;
    }

    /// The mean; `None` without an outcome.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// What is expected next, before which nothing is known: strictly between 0 and 1.
    fn expected(&self) -> f64 {
        (BEFORE.sum + self.sum) / (BEFORE.count + self.count) as f64
    }
}

/// A range of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The evidence that a difference is above a bound, as it grows with each outcome. An e-process: where the difference never is above
/// the bound, its value ever exceeds `x` with a probability of at most `1 / x`.
///
/// Chance gives each subject the treatment with a known probability, whatever else is known of it. So a bet on what an outcome and the
/// treatment have in common is fair where they have nothing in common: with `q1` and `q0` as what is expected with the treatment and
/// without it, and `m` as their mean by that probability, an outcome `y` in [0, 1] with the treatment multiplies the evidence by
/// `y q1/m + (1 - y) (1 - q1)/(1 - m)`, whose mean is 1 for every distribution of outcomes (Turner, Ly and Grünwald 2024, for two
/// groups). It needs no independence, and no outcome need be as likely as the one before. For another bound than 0 outcomes with the
/// treatment are less by it.
///
/// ```
/// use journeyman::stations::proof::EvidenceAbove;
///
/// let mut evidence = EvidenceAbove::new(0.0);
/// for number in 0..40 {
///     // Half of all are given it, and those alone are done.
///     let given = number % 2 == 0;
///     evidence.add(given, 0.5, if given { 1.0 } else { 0.0 });
/// }
/// assert!(evidence.value() > 1e6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidenceAbove {
    bound: f64,
    given: Arm,
    withheld: Arm,
    /// The logarithm.
    value: f64,
}

impl EvidenceAbove {
    /// Before the first outcome. A bound outside of [-1, 1] counts as the nearer end.
    pub fn new(bound: f64) -> Self {
        Self {
            bound: bound.clamp(-1.0, 1.0),
            given: Arm::default(),
            withheld: Arm::default(),
            value: 0.0,
        }
    }

    /// Adds an outcome in [0, 1] of a subject that chance had withheld it from with the probability `share`, above 0 and below 1.
    pub fn add(&mut self, given: bool, share: f64, outcome: f64) {
        // Less by the bound, and again from 0 to 1.
        let shifted = if given { outcome - self.bound } else { outcome };
        let shifted = (shifted + self.bound.max(0.0)) / (1.0 + self.bound.abs());
        let shifted = shifted.clamp(0.0, 1.0);
        let (with, without) = (self.given.expected(), self.withheld.expected());
        // A bet on the opposite would be evidence below the bound.
        if with > without {
            let mean = (1.0 - share) * with + share * without;
            let expected = if given { with } else { without };
            let factor =
                shifted * expected / mean + (1.0 - shifted) * (1.0 - expected) / (1.0 - mean);
            self.value += factor.ln();
        }
        match given {
            true => self.given.add(shifted),
            false => self.withheld.add(shifted),
        }
    }

    /// The evidence so far; 1 says nothing.
    pub fn value(&self) -> f64 {
        self.value.exp()
    }
}

/// An outcome, and what chance gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Drawn {
    given: bool,
    share: f64,
    outcome: f64,
}

/// What being given something changes: the outcomes of those that were given it, and of those from which chance withheld it, in their
/// order.
///
/// Interval and evidence hold at every look: one may look after each outcome, and stop when one likes. They hold while everything drifts,
/// since they rest on the known chance alone. A difference that itself changes over time is between the ends of the interval at some
/// time.
///
/// ```
/// use journeyman::stations::proof::Effect;
///
/// let mut effect = Effect::default();
/// for number in 0..400 {
///     // Nine of ten are done with it, five of ten without.
///     let given = number % 2 == 0;
///     let done = number / 2 % 10 < if given { 9 } else { 5 };
///     effect.add(given, 0.5, if done { 1.0 } else { 0.0 });
/// }
/// let estimate = effect.estimate().expect("both arms have outcomes");
/// let interval = effect.interval(0.05);
/// assert!((estimate - 0.4).abs() < 1e-9);
/// assert!(interval.low > 0.2 && interval.high < 0.6, "{interval:?}");
/// // What has no effect would give so much evidence at any time with a chance of one in a million at most.
/// assert!(effect.evidence_of_gain() > 1e6);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Those that were given it.
    pub given: Arm,
    /// Those that were not.
    pub withheld: Arm,
    /// In order.
    #[serde(skip)]
    drawn: Vec<Drawn>,
}

impl Effect {
    /// Adds an outcome of a subject that chance had withheld it from with the probability `share`. An outcome outside of [0, 1] counts
    /// as the nearer end; one that is no number, and a share that is no chance, are left out.
    pub fn add(&mut self, given: bool, share: f64, outcome: f64) {
        if outcome.is_nan() || !(share > 0.0 && share < 1.0) {
            return;
        }
        let outcome = outcome.clamp(0.0, 1.0);
        match given {
            true => self.given.add(outcome),
            false => self.withheld.add(outcome),
        }
        self.drawn.push(Drawn {
            given,
            share,
            outcome,
        });
    }

    /// The difference of the means; `None` while an arm has no outcome.
    pub fn estimate(&self) -> Option<f64> {
        Some(self.given.mean()? - self.withheld.mean()?)
    }

    /// The interval that has the true difference at every look with a probability of at least `1 - error`; from -1 to 1 while
    /// nothing is known, and for an error that is not above 0.
    pub fn interval(&self, error: f64) -> Interval {
        let all = Interval {
            low: -1.0,
            high: 1.0,
        };
        if self.estimate().is_none() || error.is_nan() || error <= 0.0 {
            return all;
        }
        // Each end may be wrong half of the time.
        let enough = 2.0 / error;
        Interval {
            low: end(|bound| self.evidence_above(bound) < enough),
            high: -end(|bound| self.evidence_below(-bound) < enough),
        }
    }

    /// The evidence that it helps.
    pub fn evidence_of_gain(&self) -> f64 {
        self.evidence_above(0.0)
    }

    /// The evidence that it harms.
    pub fn evidence_of_harm(&self) -> f64 {
        self.evidence_below(0.0)
    }

    /// The evidence that the difference is above a bound in [-1, 1] ([`EvidenceAbove`]).
    pub fn evidence_above(&self, bound: f64) -> f64 {
        let mut evidence = EvidenceAbove::new(bound);
        for one in &self.drawn {
            evidence.add(one.given, one.share, one.outcome);
        }
        evidence.value()
    }

    /// The evidence that the difference is below a bound in [-1, 1].
    pub fn evidence_below(&self, bound: f64) -> f64 {
        // What is lost is above minus the bound.
        let mut evidence = EvidenceAbove::new(-bound);
        for one in &self.drawn {
            evidence.add(one.given, one.share, 1.0 - one.outcome);
        }
        evidence.value()
    }
}

/// The least bound in [-1, 1] that is not refused, found from below: no smaller one on a grid is, and within a step of the grid the border
/// is halved.
fn end(is_possible: impl Fn(f64) -> bool) -> f64 {
    let at = |step: u32| -1.0 + 2.0 * f64::from(step) / f64::from(STEPS);
    let Some(step) = (0..=STEPS).find(|step| is_possible(at(*step))) else {
        return 1.0;
    };
    if step == 0 {
        return -1.0;
    }
    let (mut refused, mut possible) = (at(step - 1), at(step));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(refused, possible);
        match is_possible(middle) {
            true => possible = middle,
            false => refused = middle,
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An effect after these shares of so many are done, half withheld, evenly mixed.
    fn of(count: u32, with: u32, without: u32) -> Effect {
        let mut effect = Effect::default();
        for number in 0..count {
            let given = number % 2 == 0;
            // Of each ten in a row.
            let done = (number / 2 * 7) % 10 < if given { with } else { without };
            effect.add(given, 0.5, f64::from(u8::from(done)));
        }
        effect
    }

    #[test]
    fn a_bet_is_fair_where_treatment_and_outcome_have_nothing_in_common() {
        for (share, chance) in [(0.5, 0.5), (0.1, 0.9), (0.3, 0.05)] {
            let mut before = EvidenceAbove::new(0.0);
            for number in 0..20 {
                let given = number % 3 > 0;
                before.add(given, share, if given { 1.0 } else { 0.0 });
            }
            let next = |given, outcome| {
                let mut after = before;
                after.add(given, share, outcome);
                after.value()
            };
            let mean = |given| chance * next(given, 1.0) + (1.0 - chance) * next(given, 0.0);
            let expected = (1.0 - share) * mean(true) + share * mean(false);
            assert!(
                (expected / before.value() - 1.0).abs() < 1e-9,
                "{share} {chance}"
            );
            // Of a score between the two as well.
            let half = (1.0 - share) * next(true, 0.5) + share * next(false, 0.5);
            assert!((half / before.value() - 1.0).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn a_bet_is_fair_at_each_bound() {
        for bound in [-0.4, 0.3] {
            let mut before = EvidenceAbove::new(bound);
            (0..30).for_each(|number| {
                before.add(number % 2 == 0, 0.5, f64::from(u8::from(number % 2 == 0)))
            });
            let next = |given, outcome| {
                let mut after = before;
                after.add(given, 0.5, outcome);
                after.value()
            };
            // The treatment adds the bound to a mean of one half.
            let mean =
                |given, chance: f64| chance * next(given, 1.0) + (1.0 - chance) * next(given, 0.0);
            let expected = 0.5 * mean(true, 0.5 + bound) + 0.5 * mean(false, 0.5);
            assert!((expected / before.value() - 1.0).abs() < 1e-9, "{bound}");
            // Less than the bound is no better.
            let less = 0.5 * mean(true, 0.4 + bound) + 0.5 * mean(false, 0.5);
            assert!(less <= before.value() * (1.0 + 1e-9), "{bound}");
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
        // One arm alone says nothing about a difference of means.
        (0..100).for_each(|_| effect.add(true, 0.5, 1.0));
        assert_eq!(effect.interval(0.05), all);
        assert_eq!(of(40, 9, 1).interval(f64::NAN), all);
    }

    #[test]
    fn the_interval_has_the_estimate_and_shrinks() {
        let mut before = 2.0;
        for count in [100, 400, 1_600] {
            let effect = of(count, 8, 5);
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
        let effect = of(200, 9, 3);
        let Interval { low, .. } = effect.interval(0.02);
        assert!((effect.evidence_above(low) / 100.0 - 1.0).abs() < 0.01);
        assert!(effect.evidence_of_gain() > 100.0 && low > 0.0);
        // Nothing was ever bet on it.
        assert_eq!(effect.evidence_of_harm(), 1.0);
        let mirrored = of(200, 3, 9);
        let (one, other) = (effect.interval(0.05), mirrored.interval(0.05));
        assert!((one.low + other.high).abs() < 0.02, "{one:?} {other:?}");
    }

    #[test]
    fn outcomes_out_of_range_count_as_its_ends_and_what_is_no_chance_not_at_all() {
        let mut effect = Effect::default();
        for outcome in [-3.0, 7.0, f64::NAN, 0.5] {
            effect.add(true, 0.5, outcome);
        }
        for share in [0.0, 1.0, f64::NAN] {
            effect.add(true, share, 1.0);
        }
        assert_eq!((effect.given.count, effect.given.sum), (3, 1.5));
    }

    #[test]
    fn arms_that_are_all_done_or_all_failed_have_intervals() {
        for (with, without) in [(10, 0), (0, 10), (10, 10), (0, 0)] {
            let effect = of(80, with, without);
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
