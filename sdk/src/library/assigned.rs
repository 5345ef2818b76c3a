//! The tasks for which chance decided what attempts were given, for the ledger of lifts.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    domain::Assignment,
    id::{AttemptId, RunId},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    assignment: Assignment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
}

/// All of them, in the order in which they came: evidence that holds at every look forgets none. A copy shares what it does not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Assigned {
    kept: RedBlackTreeMapSync<u64, Arc<Kept>>,
    /// The number of each by its attempt.
    numbers: RedBlackTreeMapSync<AttemptId, u64>,
}

impl Assigned {
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Assignment> {
        self.kept.values().map(|kept| &kept.assignment)
    }

    /// Those from a number on, each with its number. One that comes later has a greater one, unless some were taken back.
    pub(super) fn since(&self, number: u64) -> impl Iterator<Item = (u64, &Assignment)> {
        let later = self.kept.range(number..);
        later.map(|(number, kept)| (*number, &kept.assignment))
    }

    /// Adds one, unless its attempt has one.
    pub(super) fn add(&mut self, assignment: &Assignment, run: Option<&RunId>) -> bool {
        let kept = Kept {
            assignment: assignment.clone(),
            run: run.cloned(),
        };
        self.keep(kept)
    }

    fn keep(&mut self, kept: Kept) -> bool {
        let attempt = kept.assignment.attempt.clone();
        if self.numbers.contains_key(&attempt) {
            return false;
        }
        let number = self.kept.last().map_or(0, |(last, _)| last + 1);
        self.numbers.insert_mut(attempt, number);
        self.kept.insert_mut(number, Arc::new(kept));
        true
    }

    pub(super) fn take_back(&mut self, run: &RunId) {
        let is_of_run = |kept: &Arc<Kept>| kept.run.as_ref() == Some(run);
        let of_run = self.kept.iter().filter(|(_, kept)| is_of_run(kept));
        let gone = of_run.map(|(number, kept)| (*number, kept.assignment.attempt.clone()));
        for (number, attempt) in gone.collect::<Vec<_>>() {
            self.kept.remove_mut(&number);
            self.numbers.remove_mut(&attempt);
        }
    }
}

impl Serialize for Assigned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.kept.values().map(|kept| &**kept))
    }
}

impl<'de> Deserialize<'de> for Assigned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut assigned = Self::default();
        for kept in Vec::<Kept>::deserialize(deserializer)? {
            assigned.keep(kept);
        }
        Ok(assigned)
    }
}
