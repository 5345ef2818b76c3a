//! The split into a training and a test part.

use std::collections::BTreeSet;

use journeyman::{Error, Result, Seed, domain::Assessment};
use serde::{Deserialize, Serialize};

/// A part of the split.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitPart {
    /// To train on.
    Train,
    /// To evaluate on.
    Test,
}

/// What is never in both parts.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitBy {
    /// An attempt (SCRIBE 4).
    Attempt,
    /// A task with all of its attempts. Ours: attempts at one task are alike, so that a router that was trained on one knows
    /// another.
    Task,
}

/// How annotated attempts are split. It depends on the seed and the ids alone. More attempts may put one into the other part:
/// keep the export that a router was trained on.
///
/// ```
/// use journeyman::Seed;
/// use journeyman_interchange::assessments::{Split, SplitBy};
///
/// let paper = Split::new(Seed(7));
/// assert_eq!((paper.test, paper.by), (0.1, SplitBy::Attempt));
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The seed.
    pub seed: Seed,
    /// The share of the test part, above 0 and below 1; of two attempts or more at least one is in each part. The paper: 0.1.
    pub test: f64,
    /// What is never in both parts.
    pub by: SplitBy,
}

impl Split {
    /// The same with another share of tests.
    #[must_use]
    pub fn with_test(mut self, test: f64) -> Self {
        self.test = test;
        self
    }

    /// The same with another unit.
    #[must_use]
    pub fn with_by(mut self, by: SplitBy) -> Self {
        self.by = by;
        self
    }
}

impl Split {
    /// The paper's split, 9:1 by attempts (SCRIBE 4).
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            test: 0.1,
            by: SplitBy::Attempt,
        }
    }

    /// # Errors
    /// `Invalid` for a share that is not above 0 and below 1.
    pub(super) fn validate(&self) -> Result<()> {
        match self.test > 0.0 && self.test < 1.0 {
            true => Ok(()),
            false => Err(Error::invalid(
                "assessments::of_assessments",
                "the share of the test part is above 0 and below 1",
            )
            .with("test", self.test)),
        }
    }

    /// The id by which an attempt is assigned.
    pub(super) fn key<'a>(&self, assessment: &'a Assessment) -> &'a str {
        match self.by {
            SplitBy::Attempt => assessment.attempt.as_str(),
            SplitBy::Task => assessment.task.as_str(),
        }
    }

    /// The ids of the test part.
    pub(super) fn test_part<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a str>,
    ) -> BTreeSet<&'a str> {
        let keys: BTreeSet<&str> = keys.into_iter().collect();
        let mut drawn: Vec<(u64, &str)> = keys
            .iter()
            .map(|key| (self.seed.derive(key, 0).0, *key))
            .collect();
        drawn.sort_unstable();
        let most = keys.len().saturating_sub(1);
        let count = (keys.len() as f64 * self.test).round() as usize;
        drawn.truncate(count.clamp(most.min(1), most));
        drawn.into_iter().map(|(_, key)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("a-{n}")).collect()
    }

    #[test]
    fn nine_to_one_and_one_of_each_where_there_are_two() {
        let check = |count: usize, share: f64, test: usize| {
            let ids = ids(count);
            let split = Split {
                test: share,
                ..Split::new(Seed(7))
            };
            let part = split.test_part(ids.iter().map(String::as_str));
            assert_eq!(part.len(), test, "{share} of {count}");
        };
        check(1_000, 0.1, 100);
        check(20, 0.1, 2);
        check(14, 0.1, 1);
        check(2, 0.1, 1);
        check(2, 0.9, 1);
        check(1, 0.1, 0);
        check(1, 0.9, 0);
        check(0, 0.1, 0);
    }

    #[test]
    fn it_depends_on_the_seed_and_the_ids_alone() {
        let ids = ids(50);
        let part = |seed: u64, ids: Vec<&str>| {
            let split = Split::new(Seed(seed));
            let part: Vec<String> = split
                .test_part(ids)
                .into_iter()
                .map(str::to_owned)
                .collect();
            part
        };
        let forward: Vec<&str> = ids.iter().map(String::as_str).collect();
        let backward: Vec<&str> = ids.iter().rev().map(String::as_str).collect();
        // One id twice is one id.
        let twice = [&forward[..], &backward[..]].concat();
        assert_eq!(part(7, forward.clone()), part(7, backward));
        assert_eq!(part(7, forward.clone()), part(7, twice));
        assert_ne!(part(7, forward.clone()), part(8, forward));
    }
}
