//! Sampling the next token. It is our own, so that a draw depends only on the seed and its position.

use std::thread;

use journeyman::{Error, Result, domain::Sampling};

use crate::{
    constrain::Constraint,
    convert::not_finite,
    exp::{first, greatest, sum_exp},
};

/// Logits for which a thread is started: about 0.3 ms of work, by estimate several times what its start takes.
const LOGITS_OF_A_THREAD: usize = 1 << 18;

/// One row of logits with its normalizer: `log p(i) = logit(i) - log_sum`, in f64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSum {
    max: f32,
    log_sum: f64,
}

impl LogSum {
    /// # Errors
    /// `Model` where a logit is NaN or positive infinity, or none is finite.
    pub(crate) fn of(operation: &'static str, logits: &[f32]) -> Result<Self> {
        let max = greatest(logits);
        let log_sum = f64::from(max) + sum_exp(logits, max).ln();
        if log_sum.is_finite() {
            Ok(Self { max, log_sum })
        } else {
            Err(not_finite(operation))
        }
    }

    /// The log-probability of one token, in nats, finite and at most 0.
    ///
    /// # Errors
    /// `Model` where the token's logit is not finite or the token is outside the row.
    pub(crate) fn logprob(
        self,
        operation: &'static str,
        logits: &[f32],
        token: i32,
    ) -> Result<f64> {
        usize::try_from(token)
            .ok()
            .and_then(|token| logits.get(token))
            .filter(|logit| logit.is_finite())
            .map(|&logit| (f64::from(logit) - self.log_sum).min(0.0))
            .ok_or_else(|| not_finite(operation))
    }
}

/// A row of logits, with its normalizer where that was computed beside those of other rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logits<'c> {
    pub(crate) all: &'c [f32],
    sum: Option<LogSum>,
}

impl<'c> Logits<'c> {
    pub(crate) fn of(all: &'c [f32]) -> Self {
        Self { all, sum: None }
    }

    /// The rows of a batch, which at most so many threads sum up where there are many: behind a GPU, whose batches take milliseconds, one
    /// thread would hold up the model. Each row has the same bits either way.
    pub(crate) fn of_batch(rows: Vec<Option<&'c [f32]>>, threads: u32) -> Vec<Option<Self>> {
        let mut rows: Vec<Option<Self>> = (rows.into_iter()).map(|row| row.map(Self::of)).collect();
        let mut asked: Vec<&mut Self> = rows.iter_mut().flatten().collect();
        let count: usize = asked.iter().map(|row| row.all.len()).sum();
        let threads = (count / LOGITS_OF_A_THREAD)
            .min(threads as usize)
            .min(asked.len());
        if threads < 2 {
            return rows;
        }
        let share = asked.len().div_ceil(threads);
        thread::scope(|scope| {
            let mut shares = asked.chunks_mut(share);
            let own = shares.next();
            for share in shares {
                // Rows for which the system starts no thread are summed up when they are read.
                let _ = thread::Builder::new().spawn_scoped(scope, || Self::sum_up(share));
            }
            own.into_iter().for_each(Self::sum_up);
        });
        rows
    }

    fn sum_up(rows: &mut [&mut Self]) {
        for row in rows {
            row.sum = LogSum::of("LlamaCpp", row.all).ok();
        }
    }

    /// # Errors
    /// As [`LogSum::of`].
    pub(crate) fn sum(&self, operation: &'static str) -> Result<LogSum> {
        self.sum.map_or_else(|| LogSum::of(operation, self.all), Ok)
    }

    /// The log-probability of one token.
    ///
    /// # Errors
    /// As [`LogSum::of`] and [`LogSum::logprob`].
    pub(crate) fn logprob(&self, operation: &'static str, token: i32) -> Result<f64> {
        self.sum(operation)?.logprob(operation, self.all, token)
    }
}

/// Refuses a temperature or a `top_p` out of range.
pub(crate) fn check(operation: &'static str, sampling: &Sampling) -> Result<()> {
    let Sampling {
        temperature, top_p, ..
    } = *sampling;
    if !(temperature.is_finite() && temperature >= 0.0) {
        return Err(
            Error::invalid(operation, format!("the temperature is {temperature}"))
                .hint("the temperature must be 0 (greedy) or more"),
        );
    }
    if !(top_p > 0.0 && top_p <= 1.0) {
        return Err(Error::invalid(operation, format!("top_p is {top_p}"))
            .hint("top_p must be above 0 and at most 1"));
    }
    Ok(())
}

/// Draws tokens. Holds buffers that are reused from draw to draw.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    weights: Vec<f64>,
    allowed: Vec<f32>,
}

impl Sampler {
    /// Draws the token at a position of the output, and its log-probability at temperature 1. It applies the
    /// temperature, then the nucleus, then one random number that depends on the seed and the position; with a
    /// constraint, only over the allowed tokens. Of equal tokens the lowest id comes first. The log-probability is over
    /// all tokens.
    ///
    /// # Errors
    /// `Model` where the logits are not finite.
    pub(crate) fn draw(
        &mut self,
        operation: &'static str,
        sampling: &Sampling,
        constraint: Option<&mut Constraint>,
        place: u64,
        logits: &Logits<'_>,
    ) -> Result<(i32, f64)> {
        let log_sum = logits.sum(operation)?;
        let logits = logits.all;
        let id = match constraint {
            None => choose(&mut self.weights, sampling, place, logits, log_sum.max),
            Some(constraint) => {
                self.allowed.clear();
                self.allowed.extend_from_slice(logits);
                constraint.mask(&mut self.allowed)?;
                let max = greatest(&self.allowed);
                choose(&mut self.weights, sampling, place, &self.allowed, max)
            }
        };
        Ok((id, log_sum.logprob(operation, logits, id)?))
    }
}

/// `logits` must have no NaN, and `max` must be the greatest of them.
fn choose(
    weights: &mut Vec<f64>,
    sampling: &Sampling,
    place: u64,
    logits: &[f32],
    max: f32,
) -> i32 {
    let best = first(logits, max).unwrap_or(0) as i32;
    if sampling.temperature == 0.0 {
        return best;
    }
    let temperature = f64::from(sampling.temperature);
    let weight = |&logit: &f32| (f64::from(logit - max) / temperature).exp();
    weights.clear();
    weights.extend(logits.iter().map(weight));
    let number = sampling.seed.derive("token", place).unit();
    let drawn = if sampling.top_p < 1.0 {
        let kept = nucleus(weights, f64::from(sampling.top_p));
        let total = kept.iter().map(|(_, weight)| weight).sum();
        pick(kept.into_iter(), number, total)
    } else {
        let total = weights.iter().sum();
        pick(weights.iter().copied().enumerate(), number, total)
    };
    // Rounding may leave a small remainder.
    drawn.map_or(best, |index| index as i32)
}

/// The item in whose share of the total weight a number from 0 to 1 falls.
fn pick(mut weights: impl Iterator<Item = (usize, f64)>, number: f64, total: f64) -> Option<usize> {
    let mut left = number * total;
    weights.find_map(|(index, weight)| {
        left -= weight;
        (left < 0.0).then_some(index)
    })
}

/// The smallest set of tokens with at least `top_p` of the weight.
fn nucleus(weights: &[f64], top_p: f64) -> Vec<(usize, f64)> {
    let total: f64 = weights.iter().sum();
    // All tokens below this floor together weigh less than what the nucleus drops, so they need not be sorted.
    let floor = (1.0 - top_p) * total / weights.len() as f64;
    let weights = weights.iter().copied().enumerate();
    let mut weights: Vec<(usize, f64)> = weights.filter(|&(_, weight)| weight >= floor).collect();
    weights.sort_unstable_by(|(a_index, a), (b_index, b)| {
        b.total_cmp(a).then_with(|| a_index.cmp(b_index))
    });
    let mut sum = 0.0;
    let kept = weights.iter().take_while(|(_, weight)| {
        let open = sum < top_p * total;
        sum += weight;
        open
    });
    let kept = kept.count().max(1);
    weights.truncate(kept);
    weights
}

#[cfg(test)]
mod tests {
    use journeyman::{ErrorKind, Seed};

    use super::*;

    fn sampling(temperature: f32, top_p: f32, seed: u64) -> Sampling {
        Sampling::new(temperature, top_p, Seed(seed))
    }

    fn frequencies(sampling_of: impl Fn(u64) -> Sampling, logits: &[f32]) -> Vec<f64> {
        let mut counts = vec![0.0; logits.len()];
        for seed in 0..4000 {
            let (id, _) = Sampler::default()
                .draw(
                    "test",
                    &sampling_of(seed),
                    None,
                    seed % 7,
                    &Logits::of(logits),
                )
                .unwrap();
            counts[id as usize] += 1.0 / 4000.0;
        }
        counts
    }

    #[test]
    fn greedy_takes_the_first_of_the_best() {
        let logits = [0.0, 2.0, 2.0, 1.0];
        let (id, logprob) = Sampler::default()
            .draw("test", &Sampling::GREEDY, None, 0, &Logits::of(&logits))
            .unwrap();
        let total: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
        assert_eq!(id, 1);
        assert!((logprob - (2.0 - total.ln())).abs() < 1e-12);
    }

    #[test]
    fn draws_follow_the_distribution() {
        let logits = [0.1_f32.ln(), 0.6_f32.ln(), 0.3_f32.ln()];
        let got = frequencies(|seed| sampling(1.0, 1.0, seed), &logits);
        for (got, want) in got.iter().zip([0.1, 0.6, 0.3]) {
            assert!((got - want).abs() < 0.03, "{got} against {want}");
        }
        let cold = frequencies(|seed| sampling(0.5, 1.0, seed), &logits);
        assert!((cold[1] - 0.36 / 0.46).abs() < 0.03, "{cold:?}");
    }

    #[test]
    fn the_nucleus_is_the_smallest_set_that_reaches_top_p() {
        let logits = [0.1_f32.ln(), 0.6_f32.ln(), 0.3_f32.ln()];
        let got = frequencies(|seed| sampling(1.0, 0.59, seed), &logits);
        assert_eq!(got[0] + got[2], 0.0);
        let got = frequencies(|seed| sampling(1.0, 0.7, seed), &logits);
        assert!(got[0] == 0.0 && got[2] > 0.2, "{got:?}");
    }

    #[test]
    fn a_draw_repeats_by_seed_and_place() {
        let logits = [0.0; 50];
        let row = |seed| {
            (0..20)
                .map(|place| {
                    choose(
                        &mut Vec::new(),
                        &sampling(1.0, 0.9, seed),
                        place,
                        &logits,
                        0.0,
                    )
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(row(3), row(3));
        assert_ne!(row(3), row(4));
    }

    #[test]
    fn log_probabilities_sum_to_one() {
        let logits = [3.0, -1.0, 400.0, 399.5];
        let sum = LogSum::of("test", &logits).unwrap();
        let total: f64 = (0..4)
            .map(|token| sum.logprob("test", &logits, token).unwrap().exp())
            .sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }

    #[test]
    fn rows_that_are_summed_up_together_have_the_same_sums() {
        let row = |seed: usize| -> Vec<f32> {
            let number = |at: usize| ((at * 37 + seed * 11) % 1009) as f32 / 50.0;
            (0..LOGITS_OF_A_THREAD / 4).map(number).collect()
        };
        let mut all: Vec<Vec<f32>> = (0..41).map(row).collect();
        all[7][3] = f32::NAN;
        let asked = |at: usize| !at.is_multiple_of(5);
        let rows = (0..)
            .zip(&all)
            .map(|(at, row)| asked(at).then_some(row.as_slice()));
        let rows = Logits::of_batch(rows.collect(), 3);
        for (at, (row, logits)) in rows.iter().zip(&all).enumerate() {
            let Some(row) = row else {
                assert!(!asked(at));
                continue;
            };
            let alone = LogSum::of("test", logits);
            match row.sum("test") {
                Ok(sum) => {
                    assert!(row.sum.is_some(), "{at}: no thread summed it up");
                    assert_eq!(sum.log_sum.to_bits(), alone.unwrap().log_sum.to_bits());
                }
                Err(_) => assert!(at == 7 && alone.is_err()),
            }
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for logits in [
            [0.0, f32::NAN],
            [0.0, f32::INFINITY],
            [f32::NEG_INFINITY; 2],
        ] {
            let error = LogSum::of("test", &logits).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Model);
        }
        let logits = [0.0, f32::NEG_INFINITY];
        let sum = LogSum::of("test", &logits).unwrap();
        assert!(sum.logprob("test", &logits, 1).is_err());
        assert!(sum.logprob("test", &logits, 2).is_err());
        assert!(check("test", &sampling(f32::NAN, 1.0, 0)).is_err());
        assert!(check("test", &sampling(1.0, 0.0, 0)).is_err());
    }
}
