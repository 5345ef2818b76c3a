//! The keys of the last commits.

use std::collections::BTreeMap;

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    domain::IndexMark,
    id::{CommitKey, Revision},
};

/// Keys are dropped in blocks of this many: a map that removes one at each commit is many times slower.
const BLOCK: u64 = 1_024;

/// The keys of this block of commits and of the one before: those that any index behind is likely to stand at. What is
/// kept follows from the commits alone, and a copy costs the same whatever the size.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Keys {
    before: RedBlackTreeMapSync<Revision, CommitKey>,
    current: RedBlackTreeMapSync<Revision, CommitKey>,
}

impl Keys {
    pub(super) fn get(&self, revision: Revision) -> Option<&CommitKey> {
        (self.current.get(&revision)).or_else(|| self.before.get(&revision))
    }

    /// The keys of the last commits, as many as an index keeps, and of one revision more.
    pub(super) fn last_and(&self, revision: Revision) -> BTreeMap<Revision, CommitKey> {
        let last = self.last().0;
        let from = last.saturating_sub(IndexMark::KEYS as u64) + 1;
        let wanted = (from..=last).map(Revision).chain([revision]);
        wanted
            .filter_map(|at| Some((at, self.get(at)?.clone())))
            .collect()
    }

    /// Adds the key of the next commit.
    pub(super) fn push(&mut self, revision: Revision, key: CommitKey) {
        if revision.0.is_multiple_of(BLOCK) {
            self.before = std::mem::take(&mut self.current);
        }
        self.current.insert_mut(revision, key);
    }

    pub(super) fn last(&self) -> Revision {
        let last = self.current.last().map(|(revision, _)| *revision);
        last.unwrap_or(Revision(0))
    }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.before.iter().chain(self.current.iter()))
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut keys = Self::default();
        for (revision, key) in BTreeMap::deserialize(deserializer)? {
            keys.push(revision, key);
        }
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thousand_and_more_are_known() {
        let mut keys = Keys::default();
        for revision in 1..=5_000 {
            keys.push(
                Revision(revision),
                CommitKey::new(format!("key-{revision}")),
            );
            let due = revision.saturating_sub(BLOCK).max(1);
            assert!(keys.get(Revision(due)).is_some(), "{due} at {revision}");
            assert_eq!(keys.last(), Revision(revision));
        }
        assert_eq!(keys.get(Revision(1)), None);
        assert!(keys.before.size() + keys.current.size() <= 2 * BLOCK as usize);
        let json = serde_json::to_string(&keys).unwrap();
        assert_eq!(serde_json::from_str::<Keys>(&json).unwrap(), keys);
    }
}
