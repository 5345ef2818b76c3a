//! The heaviest neighbours of a segment, kept up to date as segments come and go.

use std::sync::{Mutex, PoisonError};

use super::{index::Slot, options::MOST_NEIGHBOURS};
use crate::propose::Segment;

/// How many neighbours of the same tasks a segment forms groups with: the attempts at its own task are often its heaviest.
const PER_TASK: usize = 2;

/// A neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) slot: Slot,
    pub(super) weight: f64,
}

/// The heaviest neighbours, the heaviest first, ties by id; of the same tasks two at most, and [`MOST_NEIGHBOURS`] of all. A function of
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
    /// Takes a neighbour in, where it is among the heaviest. `segment` gives the segment of a slot.
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

    /// Whether a neighbour would be among the heaviest.
    pub(super) fn would_take<'a>(
        &self,
        new: Near,
        segment: impl Fn(Slot) -> Option<&'a Segment>,
    ) -> bool {
        self.place(new, segment).is_some()
    }

    /// The place of a new neighbour, and the place of the one with the same tasks that leaves for it.
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
