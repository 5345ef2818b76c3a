//! Seeded random draws: every random choice of this crate is made here, so the same seed gives the same bytes.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// A stream of random choices, a pure function of a label and numbers.
#[derive(Debug, Clone)]
pub struct Draws {
    source: ChaCha8Rng,
}

impl Draws {
    /// Derives a stream from a label for its purpose and the numbers that distinguish it from other streams of the
    /// label.
    #[must_use]
    pub fn new(label: &str, numbers: &[u64]) -> Self {
        let mut hash = Sha256::new();
        hash.update((label.len() as u64).to_le_bytes());
        hash.update(label.as_bytes());
        for number in numbers {
            hash.update(number.to_le_bytes());
        }
        Self {
            source: ChaCha8Rng::from_seed(hash.finalize().into()),
        }
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.source.next_u64()) * bound as u128;
        (wide >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        (self.source.next_u64() >> 11) as f64 / ((1_u64 << 53) as f64) < probability
    }

    /// One of the items, or none of an empty slice.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// One of the words of a list that is never empty.
    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        words
            .get(self.below(words.len()))
            .copied()
            .unwrap_or_default()
    }

    /// An index, drawn by weight; 0 when all weights are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u32 = weights.iter().sum();
        let mut ticket = self.below(total as usize) as u32;
        for (index, &weight) in weights.iter().enumerate() {
            if ticket < weight {
                return index;
            }
            ticket -= weight;
        }
        0
    }

    /// Puts the items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
