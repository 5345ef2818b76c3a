//! The heaviest neighbours of a segment, kept up to date as segments come and go.

use std::sync::{Mutex, PoisonError};

use super::{OverlapGraph, index::Slot};

/// The most neighbours that a segment forms groups with, whatever the options say.
pub(super) const MOST: usize = 16;

/// How many neighbours of the same tasks a segment forms groups with: the attempts at its own task are often its heaviest.
const PER_TASK: usize = 2;

/// A neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) slot: Slot,
    pub(super) weight: f64,
}

/// The heaviest neighbours, the heaviest first, ties by id; of the same tasks two at most, and [`MOST`] of all. A function of
/// all neighbours, in whichever order they are offered: what one pushes out no later one brings back.
#[derive(Clone, Debug, Default)]
pub(super) struct Heaviest(Vec<Near>);

impl Heaviest {
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.0.iter().map(|near| near.slot)
    }

    pub(super) fn holds(&self, slot: Slot) -> bool {
        self.slots().any(|one| one == slot)
    }
}

impl OverlapGraph {
    /// Takes a neighbour in, where it is among the heaviest.
    pub(super) fn offer(&self, to: &mut Heaviest, new: Near) {
        let Some((place, same)) = self.place(to, new) else {
            return;
        };
        to.0.insert(place, new);
        if let Some(last) = same {
            to.0.remove(last + 1);
        }
        to.0.truncate(MOST);
    }

    /// Whether a neighbour would be among the heaviest.
    pub(super) fn would_enter(&self, heaviest: &Heaviest, new: Near) -> bool {
        self.place(heaviest, new).is_some()
    }

    /// Where a neighbour comes in, and who of the same tasks goes for it.
    fn place(&self, heaviest: &Heaviest, new: Near) -> Option<(usize, Option<usize>)> {
        let list = &heaviest.0;
        let id = |near: &Near| self.node(near.slot).map(|node| &node.segment.id);
        let is_before = |one: &Near| {
            let order = new.weight.total_cmp(&one.weight);
            order.then_with(|| id(one).cmp(&id(&new))).is_lt()
        };
        let place = list.partition_point(is_before);
        if place == MOST {
            return None;
        }
        let tasks = |near: &Near| self.node(near.slot).map(|node| &node.segment.tasks);
        let same = (0..).zip(list).filter(|(_, one)| tasks(one) == tasks(&new));
        let same: Vec<usize> = same.map(|(at, _)| at).collect();
        match same.get(PER_TASK - 1) {
            Some(last) if *last < place => None,
            last => Some((place, last.copied())),
        }
    }
}

/// The heaviest, how many segments had come by then, and which the heaviest were.
type Known = ((Heaviest, u64), Vec<(Slot, u64)>);

/// The heaviest neighbours as they were when somebody asked last. It follows from the segments: a copy finds its own.
#[derive(Debug, Default)]
pub(super) struct Nearest(Mutex<Option<Known>>);

impl Clone for Nearest {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Nearest {
    /// The heaviest, as `bring` makes them of what was known before.
    pub(super) fn brought_up_to_date(
        &self,
        bring: impl FnOnce(Option<Known>) -> Known,
    ) -> Vec<Near> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = bring(kept.take());
        let heaviest = known.0.0.0.clone();
        *kept = Some(known);
        heaviest
    }
}
