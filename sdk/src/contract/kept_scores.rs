//! Scores of texts that do not depend on a task, which a store may keep.

use serde::{Deserialize, Serialize};

use super::{TokenScores, Total};

/// Sums of log-probabilities of one text behind one prompt, which a later session may need again: a skill by itself, for PMI, or
/// behind a task by which a gate's threshold is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptScores {
    /// A digest of all that the sums depend on: the weights with their adapter, the prompt, the text, the cut, and whether the
    /// request had to be repeatable. Anything else has another key, so an outdated value is never found.
    pub key: String,
    /// Number of tokens that were scored, after the cut.
    pub tokens: usize,
    /// The sums of the first 16, 32, ... tokens, nats, and last that of all.
    pub sums: Vec<f64>,
}

impl KeptScores {
    /// The number of tokens from one sum to the next.
    pub const STEP: usize = 16;

    pub(crate) fn of(key: String, scores: &TokenScores) -> Self {
        let mut sum = 0.0;
        let sums = scores.logprobs.chunks(Self::STEP).map(|some| {
            sum += some.iter().sum::<f64>();
            sum
        });
        Self {
            key,
            sums: sums.collect(),
            tokens: scores.logprobs.len(),
        }
    }

    /// The sum over all tokens.
    pub fn total(&self) -> Total {
        Total {
            sum: self.sums.last().copied().unwrap_or_default(),
            tokens: self.tokens,
        }
    }

    /// Whether the numbers can be what a scorer gave.
    pub(crate) fn is_sound(&self) -> bool {
        let finite = self.sums.iter().all(|sum| sum.is_finite() && *sum <= 0.0);
        finite && self.sums.len() == self.tokens.div_ceil(Self::STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_go_up_to_every_sixteenth_token_and_to_the_last() {
        let of = |count: usize| {
            let scores = TokenScores {
                ids: vec![1; count],
                logprobs: vec![-0.5; count],
                truncated: false,
            };
            KeptScores::of("k".to_owned(), &scores)
        };
        assert_eq!(of(40).sums, [-8.0, -16.0, -20.0]);
        assert_eq!(of(32).sums, [-8.0, -16.0]);
        assert_eq!(of(40).total().sum, -20.0);
        assert_eq!(
            of(0).total(),
            Total {
                sum: 0.0,
                tokens: 0
            }
        );
        for count in [0, 1, 16, 17, 40] {
            assert!(of(count).is_sound());
        }
        let short = KeptScores {
            tokens: 50,
            ..of(40)
        };
        assert!(!short.is_sound());
    }
}
