//! Skills by id and by name, in maps that share what they have in common: copying a library costs the same whatever
//! its size, so a fork is cheap.

use std::{collections::BTreeMap, fmt, sync::Arc};

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Entry;
use crate::{
    domain::SkillName,
    id::{SkillId, sha256_hex},
};

/// Greatest number in a name's suffix.
const MOST_NUMBERED: u64 = 99;

/// Entries by id.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Shelf(RedBlackTreeMapSync<SkillId, Arc<Entry>>);

impl Shelf {
    pub(super) fn get(&self, id: &SkillId) -> Option<&Entry> {
        self.0.get(id).map(|entry| &**entry)
    }

    /// A mutable entry; other libraries that share it keep theirs.
    pub(super) fn get_mut(&mut self, id: &SkillId) -> Option<&mut Entry> {
        self.0.get_mut(id).map(Arc::make_mut)
    }

    pub(super) fn contains(&self, id: &SkillId) -> bool {
        self.0.contains_key(id)
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        self.0.insert_mut(entry.skill.id.clone(), Arc::new(entry));
    }

    pub(super) fn remove(&mut self, id: &SkillId) -> Option<Entry> {
        let entry = self.0.get(id).map(|entry| Entry::clone(entry))?;
        self.0.remove_mut(id);
        Some(entry)
    }

    /// The entries, by id.
    pub(super) fn values(&self) -> impl Iterator<Item = &Entry> {
        self.0.values().map(|entry| &**entry)
    }

    /// The skills whose entries are not the very same ones in the other shelf, or are in one of the two only.
    pub(super) fn unlike<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a SkillId> {
        let gone = other.0.keys().filter(|id| !self.contains(id));
        self.0
            .keys()
            .filter(|id| !self.shares(other, id))
            .chain(gone)
    }

    /// Whether the other shelf has the very same entry and not merely an equal one.
    pub(super) fn shares(&self, other: &Self, id: &SkillId) -> bool {
        match (self.0.get(id), other.0.get(id)) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values()).finish()
    }
}

impl FromIterator<Entry> for Shelf {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut shelf = Self::default();
        entries.into_iter().for_each(|entry| shelf.insert(entry));
        shelf
    }
}

impl Serialize for Shelf {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.values().map(|entry| (&entry.skill.id, entry)))
    }
}

impl<'de> Deserialize<'de> for Shelf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = BTreeMap::<SkillId, Entry>::deserialize(deserializer)?;
        if entries.iter().any(|(id, entry)| *id != entry.skill.id) {
            return Err(serde::de::Error::custom("a skill stands under another id"));
        }
        Ok(entries.into_values().collect())
    }
}

/// Which skill has which name; no two have the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names(RedBlackTreeMapSync<String, SkillId>);

impl Names {
    pub(super) fn of(shelf: &Shelf) -> Self {
        let mut names = Self::default();
        for entry in shelf.values() {
            names.take(&entry.skill.name, &entry.skill.id);
        }
        names
    }

    pub(super) fn get(&self, name: &SkillName) -> Option<&SkillId> {
        self.0.get(name.folded().as_ref())
    }

    pub(super) fn take(&mut self, name: &SkillName, id: &SkillId) {
        self.0.insert_mut(name.folded().into_owned(), id.clone());
    }

    pub(super) fn release(&mut self, name: &SkillName) {
        self.0.remove_mut(name.folded().as_ref());
    }

    /// The name asked for where it is free or the skill's own, else the first free of `asked-2` to `asked-99`, else one
    /// with a part of the id's hash: however many ask for one name, each gets its own without a long search. The stem is
    /// cut so that the whole keeps within [`SkillName::MAX`].
    pub(super) fn free(&self, asked: &SkillName, id: &SkillId) -> SkillName {
        let is_free = |name: &SkillName| self.get(name).is_none_or(|owner| owner == id);
        if is_free(asked) {
            return asked.clone();
        }
        let numbers = (2..=MOST_NUMBERED).map(|number| number.to_string());
        let hashes = (0_u64..).map(|n| sha256_hex(format!("{n}/{id}"))[..12].to_owned());
        (numbers.chain(hashes))
            .filter_map(|suffix| {
                let room = SkillName::MAX - suffix.len() - 1;
                let stem: String = asked.as_str().chars().take(room).collect();
                SkillName::new(format!("{}-{suffix}", stem.trim_end_matches('-'))).ok()
            })
            .find(is_free)
            .unwrap_or_else(|| asked.clone())
    }
}
