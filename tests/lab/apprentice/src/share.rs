//! Shares with their standard errors.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many of how many.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Share {
    hits: usize,
    of: usize,
}

impl Share {
    /// Counts one.
    pub fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }

    /// Of how many.
    pub fn count(&self) -> usize {
        self.of
    }

    /// The share in [0, 1]; not a number of none.
    pub fn value(&self) -> f64 {
        self.hits as f64 / self.of as f64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.of == 0 {
            return formatter.write_str("-");
        }
        let share = self.hits as f64 / self.of as f64;
        let error = (share * (1.0 - share) / self.of as f64).sqrt();
        write!(formatter, "{:.1}±{:.1}", 100.0 * share, 100.0 * error)
    }
}

/// The same for worlds with a hidden contract and plain ones.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Apart {
    /// Of worlds with a hidden contract.
    pub hidden: Share,
    /// Of plain worlds.
    pub plain: Share,
}

impl Apart {
    /// Counts one on its side.
    pub fn add(&mut self, is_hidden: bool, hit: bool) {
        if is_hidden {
            self.hidden.add(hit)
        } else {
            self.plain.add(hit)
        }
    }
}
