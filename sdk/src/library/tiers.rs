//! The operations of the two tiers (ARISE C.2, C.3), on entries alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    domain::{SkillName, State, Tier, TierPolicy},
    id::{SkillId, sha256_hex},
    library::{Entry, Move, Operation, PassReason, applied::Outcome},
};

pub(super) fn entered(state: State) -> Tier {
    if state.is_offered() {
        Tier::Cache
    } else {
        Tier::Aside
    }
}

/// Moves an entry whose state changed between the tiers and aside.
pub(super) fn settle(entry: &mut Entry) -> Option<Move> {
    let (tier, operation) = match (entry.tier, entry.skill.state.is_offered()) {
        (Tier::Aside, true) => (Tier::Cache, Operation::Released),
        (Tier::Cache | Tier::Reservoir, false) => (Tier::Aside, Operation::SetAside),
        _ => return None,
    };
    entry.tier = tier;
    Some(moved(entry, operation))
}

/// Moves an offered entry to the tier that was asked for.
pub(super) fn place(entry: &mut Entry, tier: Tier) -> Outcome {
    if entry.tier == Tier::Aside {
        return Err(PassReason::NotOffered);
    }
    let moved = (entry.tier != tier).then(|| {
        entry.tier = tier;
        moved(entry, Operation::Placed)
    });
    Ok(moved.into_iter().collect())
}

pub(super) fn moved(entry: &Entry, operation: Operation) -> Move {
    Move {
        skill: entry.skill.reference(),
        name: entry.skill.name.clone(),
        operation,
    }
}

/// Evict, Load and Delete, in this order: the moves, and the removed entries.
pub(super) fn maintain(entries: &mut Shelf, policy: &TierPolicy) -> (Vec<Move>, Vec<Entry>) {
    let cached = within(entries, Tier::Cache).count();
    let mut moves = Vec::new();
    // A library that fits into its cache has nothing to move, and this runs behind every task.
    if cached > policy.cache || within(entries, Tier::Reservoir).next().is_some() {
        let protected = protected(entries, policy);
        moves.extend(evict(entries, policy.cache, &protected));
        moves.extend(load(entries, policy, &protected));
    }
    let unused = delete_unused(entries, policy.delete_percentile);
    let over = delete_over(entries, policy.reservoir);
    moves.extend(unused.iter().map(|entry| moved(entry, Operation::Deleted)));
    moves.extend(over.iter().map(|entry| moved(entry, Operation::Overflowed)));
    (moves, unused.into_iter().chain(over).collect())
}

/// The skills that may not leave the cache now: the latest added of those with too few credits, at most half
/// of the cache.
fn protected(entries: &Shelf, policy: &TierPolicy) -> BTreeSet<SkillId> {
    let mut young: Vec<&Entry> = within(entries, Tier::Cache)
        .filter(|entry| entry.credits < policy.protected_credits)
        .collect();
    young.sort_by(|a, b| (b.added_at, &b.skill.id).cmp(&(a.added_at, &a.skill.id)));
    young
        .into_iter()
        .take(policy.cache / 2)
        .map(|entry| entry.skill.id.clone())
        .collect()
}

fn evict(entries: &mut Shelf, size: usize, protected: &BTreeSet<SkillId>) -> Vec<Move> {
    let over = within(entries, Tier::Cache).count().saturating_sub(size);
    if over == 0 {
        return Vec::new();
    }
    // Fewer are protected than fit, so there are always as many to go.
    let lowest = rising(entries, Tier::Cache, protected);
    let gone = lowest.iter().take(over);
    gone.filter_map(|id| transfer(entries, id, Tier::Reservoir, Operation::Evicted))
        .collect()
}

fn load(entries: &mut Shelf, policy: &TierPolicy, protected: &BTreeSet<SkillId>) -> Vec<Move> {
    let cached = within(entries, Tier::Cache).count();
    let mut waiting = rising(entries, Tier::Reservoir, &BTreeSet::new());
    if waiting.is_empty() {
        return Vec::new();
    }
    let room = policy.cache.saturating_sub(cached);
    let filling = waiting.split_off(waiting.len().saturating_sub(room));
    let mut moves: Vec<Move> = (filling.iter().rev())
        .filter_map(|id| transfer(entries, id, Tier::Cache, Operation::Loaded))
        .collect();
    // The highest of the reservoir against the lowest unprotected of the cache, where the first is strictly higher. What
    // was swapped is no candidate again: each lies on the right side of the pairs that are left.
    let outgoing = rising(entries, Tier::Cache, protected);
    let most = if policy.load_until_stable {
        usize::MAX
    } else {
        1
    };
    for (incoming, outgoing) in waiting.iter().rev().zip(&outgoing).take(most) {
        let utility = |id| entries.get(id).map(|entry| entry.utility);
        if utility(incoming) <= utility(outgoing) {
            break;
        }
        moves.extend(transfer(
            entries,
            outgoing,
            Tier::Reservoir,
            Operation::SwappedOut,
        ));
        moves.extend(transfer(entries, incoming, Tier::Cache, Operation::Loaded));
    }
    moves
}

fn delete_unused(entries: &mut Shelf, percent: f64) -> Vec<Entry> {
    let utilities = within(entries, Tier::Reservoir)
        .map(|entry| entry.utility)
        .collect();
    let Some(bound) = percentile(utilities, percent) else {
        return Vec::new();
    };
    let unused: Vec<SkillId> = within(entries, Tier::Reservoir)
        .filter(|entry| entry.uses == 0 && entry.utility < bound)
        .map(|entry| entry.skill.id.clone())
        .collect();
    unused.iter().filter_map(|id| entries.remove(id)).collect()
}

fn delete_over(entries: &mut Shelf, size: usize) -> Vec<Entry> {
    let over = within(entries, Tier::Reservoir)
        .count()
        .saturating_sub(size);
    if over == 0 {
        return Vec::new();
    }
    let lowest = rising(entries, Tier::Reservoir, &BTreeSet::new());
    let over = lowest.iter().take(over);
    over.filter_map(|id| entries.remove(id)).collect()
}

/// The `percent`-th percentile of finite values by linear interpolation between the closest ranks; `None` of
/// none.
fn percentile(mut values: Vec<f64>, percent: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let rank = percent / 100.0 * last as f64;
    let low = *values.get(rank.floor() as usize)?;
    let high = *values.get(rank.ceil() as usize)?;
    let part = rank.fract();
    // Equal neighbours give exactly their value, and no spread overflows.
    Some(low + (high * part - low * part))
}

fn within(entries: &Shelf, tier: Tier) -> impl Iterator<Item = &Entry> {
    entries.values().filter(move |entry| entry.tier == tier)
}

/// The skills of a tier, the lowest first.
fn rising(entries: &Shelf, tier: Tier, except: &BTreeSet<SkillId>) -> Vec<SkillId> {
    let skills = within(entries, tier).filter(|entry| !except.contains(&entry.skill.id));
    let mut skills: Vec<&Entry> = skills.collect();
    skills.sort_unstable_by(|a, b| a.rank(b));
    let ids = skills.into_iter().map(|entry| entry.skill.id.clone());
    ids.collect()
}

fn transfer(entries: &mut Shelf, id: &SkillId, to: Tier, operation: Operation) -> Option<Move> {
    let entry = entries.get_mut(id)?;
    entry.tier = to;
    Some(moved(entry, operation))
}

// Skills by id and by name, in maps that share what they have in common: copying a library costs the same whatever
// its size, so a fork is cheap.

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
