//! Dropping candidates that cannot be the best before they are scored to their end.

use std::num::NonZeroUsize;

/// Which skills are still scored after a query's first tokens, where only the best one matters
/// ([`Ask::score_best`](crate::policy::Ask::score_best)): those that lie at most so far behind the best one.
///
/// ```
/// use journeyman::select::EarlyDrop;
///
/// // log p of the query's first 24 tokens behind each of three skills, nats.
/// let left = EarlyDrop::default().left(&[-61.0, -80.0, -70.5]);
/// assert_eq!(left, [true, false, true]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlyDrop {
    /// Tokens of the query that are scored behind all skills.
    pub tokens: NonZeroUsize,
    /// How far behind the best a skill is dropped, nats.
    pub behind: f64,
}

impl Default for EarlyDrop {
    /// 24 tokens, 10 nats. With these the decision stayed the same in all of some thousand that were tried; see `docs/results.md`.
    fn default() -> Self {
        Self {
            tokens: const { NonZeroUsize::new(24).expect("not 0") },
            behind: 10.0,
        }
    }
}

impl EarlyDrop {
    /// Whether each skill may still be the best, by the log-probability of the query's first tokens behind it.
    pub fn left(&self, sums: &[f64]) -> Vec<bool> {
        let best = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        sums.iter().map(|sum| *sum >= best - self.behind).collect()
    }
}
