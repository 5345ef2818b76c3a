//! The heaviest neighbours of a segment, kept up to date as segments come and go.

use std::sync::{Mutex, PoisonError};

use crate::papers::hisme::{
    Segment,
    overlap::{index::Slot, options::MOST_NEIGHBOURS},
};

/// The greatest number of neighbors of the same tasks, since attempts at the same task are often the heaviest neighbors.
const PER_TASK: usize = 2;

/// A neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) slot: Slot,
    pub(super) weight: f64,
}

/// The heaviest neighbors, heaviest first, ties by id: at most two of the same tasks, and [`MOST_NEIGHBOURS`] of all. The
/// result does not depend on the order in which neighbors are offered, since a neighbor that is pushed out never returns.
#[derive(Clone, Debug, Default)]
pub(super) struct Heaviest(Vec<Near>);

impl Heaviest {
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.0.iter().map(|near| near.slot)
    }

    pub(super) fn holds(&self, slot: Slot) -> bool {
        self.slots().any(|one| one == slot)
    }
    /// Adds a neighbor, if it is among the heaviest. `segment` returns the segment of a slot.
    pub(super) fn offer<'a>(&mut self, new: Near, segment: impl Fn(Slot) -> Option<&'a Segment>) {
        let Some((place, same)) = self.place(new, segment) else {
            return;
        };
        self.0.insert(place, new);
        if let Some(last) = same {
            self.0.remove(last + 1);
        }
        self.0.truncate(MOST_NEIGHBOURS);
    }

    /// Whether a neighbor would be among the heaviest.
    pub(super) fn would_take<'a>(
        &self,
        new: Near,
        segment: impl Fn(Slot) -> Option<&'a Segment>,
    ) -> bool {
        self.place(new, segment).is_some()
    }

    /// The position of a new neighbor, and the position of a neighbor of the same tasks that it pushes out, if any.
    fn place<'a>(
        &self,
        new: Near,
        segment: impl Fn(Slot) -> Option<&'a Segment>,
    ) -> Option<(usize, Option<usize>)> {
        let list = &self.0;
        let id = |near: &Near| segment(near.slot).map(|segment| &segment.id);
        let is_before = |one: &Near| {
            let order = new.weight.total_cmp(&one.weight);
            order.then_with(|| id(one).cmp(&id(&new))).is_lt()
        };
        let place = list.partition_point(is_before);
        if place == MOST_NEIGHBOURS {
            return None;
        }
        let tasks = |near: &Near| segment(near.slot).map(|segment| &segment.tasks);
        let same = (0..).zip(list).filter(|(_, one)| tasks(one) == tasks(&new));
        let same: Vec<usize> = same.map(|(at, _)| at).collect();
        match same.get(PER_TASK - 1) {
            Some(last) if *last < place => None,
            last => Some((place, last.copied())),
        }
    }
}

/// The heaviest neighbors, the number of insertions at that time, and the insertion number of each of these neighbors.
type Known = ((Heaviest, u64), Vec<(Slot, u64)>);

/// The heaviest neighbors at the last request. They are derived from the segments, so a clone starts without them.
#[derive(Debug, Default)]
pub(super) struct Nearest(Mutex<Option<Known>>);

impl Clone for Nearest {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Nearest {
    /// The heaviest neighbors after `bring` has updated the kept ones.
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
