//! The attempts in which chance decided what was given, for the ledger of lifts.

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

/// All of them, by attempt: an interval that holds at every look forgets none. A copy shares what it does not change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Assigned(RedBlackTreeMapSync<AttemptId, Arc<Kept>>);

impl Assigned {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Assignment> {
        self.0.values().map(|kept| &kept.assignment)
    }

    /// Adds one, unless its attempt has one.
    pub(super) fn add(&mut self, assignment: &Assignment, run: Option<&RunId>) -> bool {
        let attempt = &assignment.attempt;
        if self.0.contains_key(attempt) {
            return false;
        }
        let kept = Kept {
            assignment: assignment.clone(),
            run: run.cloned(),
        };
        self.0.insert_mut(attempt.clone(), Arc::new(kept));
        true
    }

    /// Takes back those of a run.
    pub(super) fn take_back(&mut self, run: &RunId) {
        let kept = self.0.iter();
        let of_run = kept.filter(|(_, kept)| kept.run.as_ref() == Some(run));
        let gone: Vec<AttemptId> = of_run.map(|(attempt, _)| attempt.clone()).collect();
        for attempt in gone {
            self.0.remove_mut(&attempt);
        }
    }
}

impl Serialize for Assigned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.values().map(|kept| &**kept))
    }
}

impl<'de> Deserialize<'de> for Assigned {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kept = Vec::<Kept>::deserialize(deserializer)?.into_iter();
        let by_attempt = kept.map(|one| (one.assignment.attempt.clone(), Arc::new(one)));
        Ok(Self(by_attempt.collect()))
    }
}
