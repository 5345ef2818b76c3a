//! An alarm when scores drift away from those that a threshold was fitted on (row J4).

use serde::{Deserialize, Serialize};

use super::FittedScores;
use crate::{
    error::{Error, Result},
    id::Seed,
};

/// The shares of a capital that are spread over all bets again before each score. With a small one a bet is kept that wins little for
/// long, with a large one a bet is taken up soon.
const JUMPS: [f64; 4] = [1e-4, 1e-3, 1e-2, 1e-1];

/// The bets: how much on the first and on the second of Legendre's polynomials of a rank from -1 to 1. The first wins where scores move,
/// the second where they spread out or draw together. No bet loses all, and each pays 1 in the mean where ranks are uniform.
const BETS: [(f64, f64); 7] = [
    (0.0, 0.0),
    (0.6, 0.0),
    (-0.6, 0.0),
    (0.95, 0.0),
    (-0.95, 0.0),
    (0.0, 0.9),
    (0.0, -0.9),
];

/// Whether the scores of decisions still come from where those came from that a threshold was fitted on: an alarm that is raised in vain
/// with a stated probability at most, however long it is watched.
///
/// A threshold holds for scores that are drawn as the fitted ones were. Other tasks, a library that grew, a server that changed its model
/// under the same name: all of them may move the scores. When the alarm is raised, fit the threshold again: until
/// then its bound is not known to hold.
///
/// ```
/// use journeyman::{Seed, stations::select::ScoreDrift};
///
/// // From 0 to 10 nats when the threshold was fitted.
/// let score = |number: u32, most: f64| most * f64::from(number * 37 % 100) / 100.0;
/// let fitted = (0..200).map(|number| score(number, 10.0));
/// let mut drift = ScoreDrift::new(fitted, 0.01, Seed(1))?;
/// // The same again: no alarm.
/// for number in 0..100 {
///     assert!(!drift.add(score(number, 10.0)));
/// }
/// // From 0 to 2.5 nats: an alarm, after some two dozen scores.
/// let alarm = (0..100).position(|number| drift.add(score(number, 2.5)));
/// assert!(alarm.is_some_and(|scores| scores < 60), "{alarm:?}");
/// assert!(drift.evidence() >= 100.0 && drift.is_raised());
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// # Method
/// A conformal test martingale (Vovk, Nouretdinov and Gammerman 2003; Vovk, Petej, Nouretdinov, Ahlberg, Carlsson and Gammerman 2021,
/// the Simple Jumper). The rank of each score among all before it, ties broken by chance, is uniform and independent of the ranks before
/// it, as long as the order of all scores is by chance alone. So the capital of one who bets against that is a martingale: it ever reaches
/// `1 / error` with a probability of at most `error` (Ville). The capital goes to bets on higher, lower, wider and narrower scores, a
/// part of it is spread anew before each score, since nobody knows when a drift begins, and the mean is taken over several sizes of that
/// part.
///
/// New scores count among those that later ones are ranked with: ranks among the fitted ones alone would hang on how these happened to
/// fall, and a long watch would take that for drift. So a drift that is not noticed in time becomes the rule.
///
/// Scores are kept as counts in the cells of a grid that does not hang on them (sign, exponent and eight binary digits: steps of 0.4% or
/// less). So a long watch takes little memory, a few thousand cells; a sample of bounded size would make ranks hang on each other.
///
/// Scores of tasks that are alike come together, and count as drift. Give one for each task, in the order of the tasks. A session does so by
/// itself where its recipe has a calibration that keeps scores ([`Recipe::calibrate`](crate::recipe::Recipe::calibrate)). In learning it
/// decides among more skills than a fit by outcomes does, those on trial and those that were written from the task, so that an alarm there
/// may be about the skills and not about the tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreDrift {
    error: f64,
    seed: Seed,
    /// The number of scores in each cell that has one, by cell.
    cells: Vec<(u32, u64)>,
    fitted: u64,
    added: u64,
    jumpers: [Jumper; JUMPS.len()],
    is_raised: bool,
}

impl ScoreDrift {
    /// A watch against the scores that a threshold was fitted on. `error` is the probability of a false alarm, ever, above 0 and below
    /// 1; the seed breaks ties.
    ///
    /// # Errors
    /// `Invalid` for an error out of its range, a score that is not finite, and fewer than 8 scores.
    pub fn new(fitted: impl IntoIterator<Item = f64>, error: f64, seed: Seed) -> Result<Self> {
        let invalid = |message: String| Error::invalid("ScoreDrift::new", message);
        if !(error > 0.0 && error < 1.0) {
            let message = format!("error must be above 0 and below 1, and is {error}");
            return Err(invalid(message).hint("take 0.01 for one false alarm in 100 watches"));
        }
        let mut drift = Self {
            error,
            seed,
            cells: Vec::new(),
            fitted: 0,
            added: 0,
            jumpers: [Jumper::NEW; JUMPS.len()],
            is_raised: false,
        };
        for score in fitted {
            if !score.is_finite() {
                let message = format!("a fitted score is not finite: {score}");
                return Err(invalid(message).hint("leave out the tasks without a scored candidate"));
            }
            drift.keep(score);
            drift.fitted += 1;
        }
        let least = FittedScores::LEAST;
        if drift.fitted < least {
            let message = format!(
                "{least} fitted scores are needed, and there are {}",
                drift.fitted
            );
            return Err(invalid(message).hint("give the scores that the threshold was fitted on"));
        }
        Ok(drift)
    }

    /// Adds the score of the next task's decision, in the unit of the fitted ones. Gives whether the alarm is raised, now or before. A
    /// score that is no number is left out.
    pub fn add(&mut self, score: f64) -> bool {
        if !score.is_nan() {
            let rank = self.rank(score);
            for (jumper, jump) in self.jumpers.iter_mut().zip(JUMPS) {
                jumper.add(rank, jump);
            }
            self.is_raised |= self.log_evidence() >= -self.error.ln();
        }
        self.is_raised
    }

    /// Whether the alarm was ever raised.
    pub fn is_raised(&self) -> bool {
        self.is_raised
    }

    /// The number of scores that were added.
    pub fn added(&self) -> u64 {
        self.added
    }

    /// The evidence of drift so far; 1 says nothing, below 1 speaks against it. It exceeds `x` ever with a probability of at
    /// most `1 / x` where nothing drifts.
    pub fn evidence(&self) -> f64 {
        self.log_evidence().exp()
    }

    fn log_evidence(&self) -> f64 {
        let best = self.jumpers.iter().map(|one| one.capital);
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self
            .jumpers
            .iter()
            .map(|one| (one.capital - best).exp())
            .sum();
        best + (sum / JUMPS.len() as f64).ln()
    }

    /// Counts a score. Gives the place of its cell.
    fn keep(&mut self, score: f64) -> usize {
        let cell = cell(score);
        let place = self.cells.partition_point(|(one, _)| *one < cell);
        let is_known = self.cells.get(place).is_some_and(|(one, _)| *one == cell);
        if !is_known {
            self.cells.insert(place, (cell, 0));
        }
        self.cells[place].1 += 1;
        place
    }

    /// Counts a new score. Gives its rank among all so far, itself included: the share that is higher, from 0 to 1, with a random part
    /// of those in its cell.
    fn rank(&mut self, score: f64) -> f64 {
        let place = self.keep(score);
        self.added += 1;
        let same = self.cells[place].1 as f64;
        let higher: u64 = self.cells[place + 1..].iter().map(|(_, count)| count).sum();
        let part = self.seed.derive("drift", self.added).unit();
        (higher as f64 + part * same) / (self.fitted + self.added) as f64
    }
}

/// Capital that goes from bet to bet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Jumper {
    /// The logarithm of all of it.
    capital: f64,
    /// The share of it on each bet.
    shares: [f64; BETS.len()],
}

impl Jumper {
    const NEW: Self = Self {
        capital: 0.0,
        shares: [1.0 / BETS.len() as f64; BETS.len()],
    };

    fn add(&mut self, rank: f64, jump: f64) {
        let first = 2.0 * rank - 1.0;
        let second = 0.5 * (3.0 * first * first - 1.0);
        let mut sum = 0.0;
        for (share, (on_first, on_second)) in self.shares.iter_mut().zip(BETS) {
            let spread = (1.0 - jump) * *share + jump / BETS.len() as f64;
            *share = spread * (1.0 + on_first * first + on_second * second);
            sum += *share;
        }
        self.shares.iter_mut().for_each(|share| *share /= sum);
        self.capital += sum.ln();
    }
}

/// The cell of the grid: the higher the score, the higher the number.
fn cell(score: f64) -> u32 {
    // -0 is 0.
    let bits = (score + 0.0).to_bits();
    // As a number without a sign, negative values come last and upside down.
    let ordered = if bits >> 63 == 0 {
        bits | (1 << 63)
    } else {
        !bits
    };
    (ordered >> 44) as u32
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::Rng;

    use super::*;

    /// Sums of twelve uniform numbers are nearly normal.
    fn draws(seed: Seed, mean: f64, deviation: f64) -> impl Iterator<Item = f64> {
        let mut rng = seed.rng();
        let mut unit = move || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        std::iter::repeat_with(move || {
            let sum: f64 = (0..12).map(|_| unit()).sum();
            mean + deviation * (sum - 6.0)
        })
    }

    fn watch(seed: Seed, error: f64) -> ScoreDrift {
        let fitted = draws(seed.derive("fitted", 0), 20.0, 4.0).take(100);
        ScoreDrift::new(fitted, error, seed).unwrap()
    }

    #[test]
    fn without_drift_hardly_any_stream_raises_the_alarm() {
        let mut alarms = 0;
        for round in 0..200 {
            let seed = Seed(round);
            let mut drift = watch(seed, 0.02);
            let mut new = draws(seed.derive("new", 0), 20.0, 4.0).take(500);
            alarms += u32::from(new.any(|score| drift.add(score)));
        }
        assert!(alarms <= 10, "{alarms} of 200");
    }

    /// Scores with few values: with equal ones ranks are by chance in part.
    #[test]
    fn without_drift_hardly_any_stream_of_eight_values_raises_the_alarm() {
        let mut alarms = 0;
        for round in 0..200 {
            let seed = Seed(round);
            // The middle values are the most frequent ones.
            let mut all = draws(seed.derive("eight", 0), 4.0, 1.5);
            let mut next = || all.next().unwrap().floor().clamp(0.0, 7.0);
            let fitted: Vec<f64> = (0..100).map(|_| next()).collect();
            let mut drift = ScoreDrift::new(fitted, 0.02, seed).unwrap();
            alarms += u32::from((0..500).any(|_| drift.add(next())));
            assert!(drift.cells.len() <= 8);
        }
        // 4 are to be expected at most.
        assert!(alarms <= 10, "{alarms} of 200");
    }

    #[test]
    fn a_drift_raises_it_soon_and_it_stays_raised() {
        for (mean, deviation, within) in [(16.0, 4.0, 200), (24.0, 4.0, 200), (20.0, 10.0, 200)] {
            let mut drift = watch(Seed(3), 0.01);
            let mut before = draws(Seed(4), 20.0, 4.0).take(100);
            assert!(!before.any(|score| drift.add(score)));
            let mut after = draws(Seed(5), mean, deviation).take(within);
            assert!(after.any(|score| drift.add(score)), "{mean} {deviation}");
            assert!(drift.evidence() >= 100.0);
            for score in draws(Seed(6), 20.0, 4.0).take(50) {
                assert!(drift.add(score));
            }
        }
    }

    #[test]
    fn a_bet_is_fair_where_ranks_are_uniform() {
        let mut before = Jumper::NEW;
        for rank in [0.1, 0.2, 0.05, 0.7] {
            before.add(rank, 0.01);
        }
        let of = |rank: f64| {
            let mut after = before;
            after.add(rank, 0.01);
            (after.capital - before.capital).exp()
        };
        // The midpoint rule.
        let mean: f64 = (0..1_000)
            .map(|step| of((f64::from(step) + 0.5) / 1_000.0))
            .sum();
        assert!((mean / 1_000.0 - 1.0).abs() < 1e-5, "{mean}");
        assert!(of(0.1) > 1.0 && of(0.9) < 1.0);
    }

    #[test]
    fn ranks_of_equal_scores_are_spread_over_all() {
        // All scores are one: its rank is by chance alone, and no evidence of anything.
        let mut drift = ScoreDrift::new([0.0; 50], 0.05, Seed(1)).unwrap();
        let ranks: Vec<f64> = (0..200).map(|_| drift.rank(-0.0)).collect();
        assert_eq!(drift.cells.len(), 1);
        assert!(ranks.iter().any(|rank| *rank < 0.1) && ranks.iter().any(|rank| *rank > 0.9));
        // The highest and the lowest have ranks near the ends.
        assert!(drift.rank(9.0) < 0.01 && drift.rank(-9.0) > 0.99);
    }

    #[test]
    fn cells_are_in_the_order_of_the_scores() {
        let scores = [
            f64::NEG_INFINITY,
            -1e9,
            -20.1,
            -20.0,
            -1e-3,
            0.0,
            1e-3,
            20.0,
            20.1,
            1e9,
            f64::INFINITY,
        ];
        let cells: Vec<u32> = scores.iter().map(|score| cell(*score)).collect();
        assert!(cells.is_sorted_by(|one, other| one < other), "{cells:?}");
        assert_eq!(cell(-0.0), cell(0.0));
    }

    #[test]
    fn a_watch_goes_on_from_its_json_form() {
        let mut drift = watch(Seed(2), 0.01);
        draws(Seed(8), 19.0, 4.0).take(30).for_each(|score| {
            drift.add(score);
        });
        let json = serde_json::to_string(&drift).unwrap();
        let mut again: ScoreDrift = serde_json::from_str(&json).unwrap();
        assert_eq!(again, drift);
        assert!(!drift.add(f64::NAN));
        assert_eq!(drift.added(), 30);
        assert_eq!(again.add(18.0), drift.add(18.0));
        assert_eq!(again.evidence(), drift.evidence());
    }

    #[test]
    fn what_cannot_be_watched_is_refused() {
        for (fitted, error, message) in [
            (&[1.0; 7][..], 0.05, "8 fitted scores are needed"),
            (&[f64::NAN; 8], 0.05, "not finite"),
            (&[1.0; 8], 0.0, "error must be above 0"),
            (&[1.0; 8], 1.0, "error must be above 0"),
        ] {
            let refused = ScoreDrift::new(fitted.iter().copied(), error, Seed(1)).unwrap_err();
            assert!(refused.message().contains(message), "{refused}");
        }
    }
}
