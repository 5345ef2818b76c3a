//! A threshold that a session fitted to the model that scores.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ScoreKind;
use crate::id::ModelId;

/// The threshold by which a gate decides with a model that nobody calibrated: what the best of wrong skills rarely exceeds with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FittedThreshold {
    /// The score.
    pub score: ScoreKind,
    /// The value that the best candidate must exceed, nats.
    pub threshold: f64,
    /// The weights that score, with their adapter.
    pub model: ModelId,
    /// The share of tasks without a right skill at which one may be injected.
    pub most_wrong: f64,
    /// Number of tasks that it was fitted by. They are none of the library's, and no skill is taken for right at them.
    pub tasks: u32,
    /// At how many of them a skill exceeds the threshold that the others give: with few tasks, how sure it is.
    pub exceeded: u32,
}

impl fmt::Display for FittedThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} above {:.2} nats with {}, fitted to it by {} tasks that no skill is for, so that at most {:.1}% of such tasks get one; at {} of \
             them a skill exceeds what the others give",
            self.score.name(),
            self.threshold,
            self.model,
            self.tasks,
            100.0 * self.most_wrong,
            self.exceeded
        )
    }
}
