//! A threshold that a session fitted to the model that scores.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::ScoreKind;
use crate::id::ModelId;

/// The threshold by which a gate decides with a model that nobody calibrated: what the best of wrong skills rarely exceeds with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FittedThreshold {
    /// The score.
    pub score: ScoreKind,
    /// The value that a skill must exceed, nats.
    pub threshold: f64,
    /// What the search's score counts beside it: then the skill that the search finds first is injected or none, since a search knows a
    /// skill more surely than a model does that was not trained for it. `None` where it is the best by score: without a search, with one whose scores
    /// do not compare from task to task, with a ranking by weights, a bank, or a relative test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundWeight>,
    /// The weights that score, with their adapter.
    pub model: ModelId,
    /// The share of tasks without a right skill at which one may be injected.
    pub most_wrong: f64,
    /// Number of tasks that it was fitted by. They are none of the library's, and no skill is taken for right at them.
    pub tasks: u32,
    /// At how many of them a skill exceeds the threshold that the others give: with few tasks, how sure it is.
    pub exceeded: u32,
}

/// How much the score of a search counts beside the model's.
///
/// ```
/// use journeyman::domain::FoundWeight;
///
/// let weight = FoundWeight { nats: 2.0, words_power: 0.5, most: 9.0 };
/// // Four different words.
/// assert_eq!(weight.counts(3.0, "open the jar, the lid"), 3.0);
/// assert_eq!(weight.counts(30.0, "open the jar, the lid"), 9.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundWeight {
    /// Nats for each unit of the search's score, not negative.
    pub nats: f64,
    /// The search's score is divided by the number of different words in the task to this power, from 0 to 1: so much a wrong skill's
    /// score grows with the length of a task.
    pub words_power: f64,
    /// What it counts at most, nats. With the threshold that a session fits: so much that the search alone injects nothing, and the model has to
    /// hold a skill for likelier than it does wrong ones in the mean.
    pub most: f64,
}

impl FoundWeight {
    /// What a search's score counts for a task, nats.
    pub fn counts(&self, found: f64, task: &str) -> f64 {
        let words: BTreeSet<String> = (task.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        if !found.is_finite() {
            return 0.0;
        }
        let counts = self.nats * found / (words.len().max(1) as f64).powf(self.words_power);
        counts.min(self.most)
    }
}

impl fmt::Display for FoundWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "of the skill that the search finds first, and {:.2} nats for each unit of its score there by the number of different words to the \
             power {:.2}, together",
            self.nats, self.words_power
        )
    }
}

impl fmt::Display for FittedThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.score.name())?;
        if let Some(found) = &self.found {
            write!(f, " {found}")?;
        }
        write!(
            f,
            " above {:.2} nats with {}, fitted to it by {} tasks that no skill is for, so that at most {:.1}% of such tasks get one; at {} of \
             them a skill exceeds what the others give",
            self.threshold,
            self.model,
            self.tasks,
            100.0 * self.most_wrong,
            self.exceeded
        )
    }
}

/// Which skill a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedOn {
    /// The one that a search finds first; the best by score of so many, where the search's scores do not compare from task to task.
    First {
        /// The number of skills that the search finds at most.
        among: usize,
    },
    /// The best by score of so many.
    BestOf(usize),
}
