//! The operations of the two tiers (ARISE C.2, C.3), on entries alone.

use std::collections::BTreeSet;

use super::{Entry, Move, Operation, PassReason, applied::Outcome, shelf::Shelf};
use crate::{
    domain::{State, Tier, TierPolicy},
    id::SkillId,
};

/// The tier of a new skill in this state.
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

/// The record of a move.
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
