//! A comparison of two by pairs of outcomes that may be looked at after each pair: bets against each claim (Waudby-Smith and Ramdas
//! 2023, section 4), mixed over many sizes of the bet.

use serde::{Deserialize, Serialize};

use super::check;
use crate::error::Result;

/// The sizes of the bets, as shares of what may be lost.
const BETS: [f64; 24] = [
    0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.24, 0.28, 0.33, 0.38, 0.44,
    0.5, 0.56, 0.63, 0.7, 0.77, 0.84, 0.91, 0.97,
];

/// What is asked of a comparison: how often it may be wrong, and from what difference on it matters.
///
/// ```
/// use journeyman::stations::proof::ComparePolicy;
///
/// let mut policy = ComparePolicy::default();
/// policy.margin = 0.02; // a difference of two points does not matter
/// policy.validate()?;
/// policy.most = 4; // fewer than the least number of pairs
/// assert!(policy.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparePolicy {
    /// The greatest probability, above 0 and below 1, that a conclusion is ever reached that is wrong, each kind of conclusion by itself.
    pub error: f64,
    /// Differences of the means up to this do not matter, at least 0 and below 1. With 0, "no difference" is never concluded.
    pub margin: f64,
    /// The least number of pairs before anything is concluded.
    pub least: u64,
    /// The greatest number of pairs that are made.
    pub most: u64,
}

impl Default for ComparePolicy {
    /// At most 5% wrong, any difference matters, from 8 to 200 pairs.
    fn default() -> Self {
        Self {
            error: 0.05,
            margin: 0.0,
            least: 8,
            most: 200,
        }
    }
}

impl ComparePolicy {
    /// Checks the ranges.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub fn validate(&self) -> Result<()> {
        let check = |holds, field, range| check("ComparePolicy::validate", holds, field, range);
        let (error, margin) = (self.error, self.margin);
        let sound = error > 0.0 && error < 1.0;
        check(sound, ("error", error), "above 0 and below 1")?;
        let sound = (0.0..1.0).contains(&margin);
        check(sound, ("margin", margin), "at least 0 and below 1")?;
        let (least, most) = (("least", self.least as f64), ("most", self.most as f64));
        check(self.least >= 1, least, "at least 1")?;
        check(self.most >= self.least, most, "at least `least`")
    }
}

/// What pairs of outcomes say.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The second is better, by more than nothing.
    Better,
    /// The second is worse.
    Worse,
    /// There is no difference larger than the margin.
    NoDifference,
    /// The pairs do not decide it yet.
    NotYet {
        /// About how many more they would have to be, if they go on as so far; `None` where they point nowhere.
        more: Option<u64>,
    },
}

/// A comparison of two by pairs of outcomes, each in [0, 1]: of the same task, first without and then with a change.
///
/// ```
/// use journeyman::stations::proof::{Comparison, ComparePolicy, Conclusion};
///
/// let mut comparison = Comparison::new(ComparePolicy::default())?;
/// // Three wins decide nothing, whatever their mean is.
/// (0..3).for_each(|_| comparison.add(0.0, 1.0));
/// assert!(matches!(comparison.conclusion(), Conclusion::NotYet { .. }));
/// (0..7).for_each(|_| comparison.add(0.0, 1.0));
/// assert_eq!(comparison.conclusion(), Conclusion::Better);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    policy: ComparePolicy,
    count: u64,
    sum: f64,
    /// Against a difference of 0 or less, of 0 or more, of the margin or more, and of minus the margin or less.
    bets: [Bets; 4],
}

/// The logarithm of what each bet has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Bets {
    against: f64,
    wealth: [f64; BETS.len()],
}

impl Bets {
    /// Bets that the mean of values in [-1, 1] is above this.
    fn above(against: f64) -> Self {
        Self {
            against,
            wealth: [0.0; BETS.len()],
        }
    }

    fn add(&mut self, value: f64) {
        // At most this is lost of a stake of 1.
        let most = 1.0 + self.against;
        for (wealth, bet) in self.wealth.iter_mut().zip(BETS) {
            *wealth += (bet * (value - self.against) / most).ln_1p();
        }
    }

    fn best(&self) -> f64 {
        self.wealth
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// The logarithm of the mean: an e-process.
    fn evidence(&self) -> f64 {
        let best = self.best();
        let sum: f64 = self.wealth.iter().map(|one| (one - best).exp()).sum();
        best + (sum / BETS.len() as f64).ln()
    }
}

impl Comparison {
    /// Without a pair.
    ///
    /// # Errors
    /// `Invalid` for a policy out of its ranges.
    pub fn new(policy: ComparePolicy) -> Result<Self> {
        policy.validate()?;
        let margin = policy.margin;
        Ok(Self {
            policy,
            count: 0,
            sum: 0.0,
            bets: [
                Bets::above(0.0),
                Bets::above(0.0),
                Bets::above(-margin),
                Bets::above(-margin),
            ],
        })
    }

    /// Adds a pair; an outcome outside of [0, 1] counts as the nearer end. A pair with an outcome that is no number is left out.
    pub fn add(&mut self, first: f64, second: f64) {
        if first.is_nan() || second.is_nan() {
            return;
        }
        let difference = second.clamp(0.0, 1.0) - first.clamp(0.0, 1.0);
        self.count += 1;
        self.sum += difference;
        let [gain, harm, below, above] = &mut self.bets;
        gain.add(difference);
        harm.add(-difference);
        // That it is above minus the margin, and that its negative is.
        below.add(difference);
        above.add(-difference);
    }

    /// Number of pairs.
    pub fn pairs(&self) -> u64 {
        self.count
    }

    /// The mean difference; `None` without a pair.
    pub fn estimate(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The evidence that the second is better: an e-value, which exceeds `x` ever with a probability of at most `1 / x` where it is not.
    pub fn evidence_of_gain(&self) -> f64 {
        self.bets[0].evidence().exp()
    }

    /// The evidence that the second is worse.
    pub fn evidence_of_harm(&self) -> f64 {
        self.bets[1].evidence().exp()
    }

    /// Number of pairs that may still be made.
    pub(crate) fn left(&self) -> u64 {
        self.policy.most.saturating_sub(self.count)
    }

    /// Whether no more pairs are to be made: it is concluded, or the pairs are used up.
    pub fn is_over(&self) -> bool {
        let open = matches!(self.conclusion(), Conclusion::NotYet { .. });
        !open || self.count >= self.policy.most
    }

    /// What the pairs say so far.
    pub fn conclusion(&self) -> Conclusion {
        let enough = -self.policy.error.ln();
        let [gain, harm, below, above] = self.bets.each_ref().map(Bets::evidence);
        if self.count >= self.policy.least {
            if gain >= enough {
                return Conclusion::Better;
            }
            if harm >= enough {
                return Conclusion::Worse;
            }
            if self.policy.margin > 0.0 && below >= enough && above >= enough {
                return Conclusion::NoDifference;
            }
        }
        Conclusion::NotYet {
            more: self.more(enough),
        }
    }

    /// The number of pairs that are missing, should the evidence grow on as it did.
    fn more(&self, enough: f64) -> Option<u64> {
        let mut more = self.policy.least.saturating_sub(self.count);
        let count = self.count as f64;
        let missing = |bets: &Bets| {
            let growth = bets.best() / count;
            (growth > 0.0).then(|| (enough - bets.evidence()) / growth)
        };
        let [gain, harm, below, above] = self.bets.each_ref().map(missing);
        let same = below.zip(above).map(|(below, above)| below.max(above));
        let same = same.filter(|_| self.policy.margin > 0.0);
        let pairs = [gain, harm, same].into_iter().flatten();
        let least = pairs.fold(f64::INFINITY, f64::min);
        if !least.is_finite() {
            return None;
        }
        more = more.max(least.max(0.0).ceil() as u64);
        Some(more.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(policy: ComparePolicy, pairs: impl IntoIterator<Item = (f64, f64)>) -> Comparison {
        let mut comparison = Comparison::new(policy).unwrap();
        pairs
            .into_iter()
            .for_each(|(first, second)| comparison.add(first, second));
        comparison
    }

    #[test]
    fn what_is_the_same_each_time_is_no_difference_where_a_margin_says_so() {
        let same = |count: usize| (0..count).map(|_| (1.0, 1.0));
        let margin = ComparePolicy {
            margin: 0.1,
            ..ComparePolicy::default()
        };
        assert_eq!(of(margin, same(100)).conclusion(), Conclusion::NoDifference);
        let few = of(margin, same(10)).conclusion();
        assert!(
            matches!(few, Conclusion::NotYet { more: Some(1..60) }),
            "{few:?}"
        );
        // Without a margin it is never concluded.
        let none = of(ComparePolicy::default(), same(10_000)).conclusion();
        assert_eq!(none, Conclusion::NotYet { more: None });
    }

    #[test]
    fn losses_are_worse_and_gains_are_better() {
        let mixed =
            |wins: usize| (0..60).map(move |n| if n % 6 < wins { (0.0, 1.0) } else { (1.0, 0.0) });
        assert_eq!(
            of(ComparePolicy::default(), mixed(5)).conclusion(),
            Conclusion::Better
        );
        assert_eq!(
            of(ComparePolicy::default(), mixed(1)).conclusion(),
            Conclusion::Worse
        );
        let even = of(ComparePolicy::default(), mixed(3));
        assert!(matches!(even.conclusion(), Conclusion::NotYet { .. }));
        assert!(!even.is_over());
    }

    #[test]
    fn too_few_pairs_conclude_nothing() {
        let policy = ComparePolicy {
            least: 20,
            most: 30,
            ..ComparePolicy::default()
        };
        let wins = |count: usize| of(policy, (0..count).map(|_| (0.0, 1.0)));
        assert_eq!(wins(19).conclusion(), Conclusion::NotYet { more: Some(1) });
        assert_eq!(wins(20).conclusion(), Conclusion::Better);
        // Where pairs point nowhere, it ends with them.
        let ties = of(policy, (0..30).map(|_| (1.0, 1.0)));
        assert!(ties.is_over() && ties.conclusion() == Conclusion::NotYet { more: None });
    }

    #[test]
    fn a_policy_out_of_range_is_refused_by_field() {
        let refused =
            |policy: ComparePolicy| Comparison::new(policy).unwrap_err().message().to_owned();
        let sound = ComparePolicy::default();
        assert!(
            refused(ComparePolicy {
                error: 0.0,
                ..sound
            })
            .starts_with("error must be above 0")
        );
        assert!(
            refused(ComparePolicy {
                margin: 1.0,
                ..sound
            })
            .starts_with("margin must be")
        );
        assert!(refused(ComparePolicy { least: 0, ..sound }).starts_with("least must be"));
        assert!(refused(ComparePolicy { most: 7, ..sound }).starts_with("most must be"));
    }

    #[test]
    fn evidence_of_pairs_is_a_martingale_where_neither_is_better() {
        let before = of(
            ComparePolicy::default(),
            [(0.0, 1.0), (1.0, 0.0), (0.2, 0.9)],
        );
        let next = |first, second| {
            let mut after = before.clone();
            after.add(first, second);
            after.evidence_of_gain()
        };
        let mean = f64::midpoint(next(0.0, 0.6), next(0.6, 0.0));
        assert!((mean / before.evidence_of_gain() - 1.0).abs() < 1e-9);
    }
}
