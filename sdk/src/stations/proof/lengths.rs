//! What tasks took, in one order, and the place of a task among those before it.

use std::collections::BTreeMap;

/// What a task took: one that fails more often is longer, and of those that fail as often the one with more steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Length {
    /// The share of attempts that failed, in millionths.
    failed: u64,
    /// The mean number of steps, in twelfths.
    steps: u64,
}

impl Length {
    /// Of the share of a task's attempts that did it, in [0, 1], and their mean number of steps.
    pub(super) fn of(success: f64, steps: f64) -> Self {
        // Means of small groups that are equal come out equal.
        let rounded = |value: f64, parts: f64| (value * parts).round() as u64;
        Self {
            failed: rounded(1.0 - success, 1e6),
            steps: rounded(steps, 12.0),
        }
    }
}

/// What the tasks of one kind took so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths {
    counts: BTreeMap<Length, u64>,
    tasks: u64,
}

impl Lengths {
    /// Counts a task, and gives its place among those before it: the share that was shorter, with half of those of the same length.
    /// `None` for the first.
    pub(super) fn place(&mut self, length: Length) -> Option<f64> {
        let shorter: u64 = self.counts.range(..length).map(|(_, count)| count).sum();
        let count = self.counts.entry(length).or_default();
        let (same, before) = (*count, self.tasks);
        *count += 1;
        self.tasks += 1;
        (before > 0).then(|| (shorter as f64 + 0.5 * same as f64) / before as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Seed, stations::proof::EvidenceAbove};

    #[test]
    fn a_failure_is_longer_than_each_success_and_more_steps_are_longer() {
        let order = [(1.0, 3.0), (1.0, 3.5), (0.75, 2.0), (0.0, 1.0), (0.0, 9.0)];
        let lengths = order.map(|(success, steps)| Length::of(success, steps));
        assert!(lengths.is_sorted() && lengths.windows(2).all(|two| two[0] != two[1]));
        // Means of the same steps in another order are the same.
        let one = (3.0 + 4.0 + 4.0) / 3.0;
        let other = (4.0 + 3.0 + 4.0) / 3.0;
        assert_eq!(Length::of(1.0, one), Length::of(1.0, other));
    }

    #[test]
    fn the_place_is_the_share_of_shorter_tasks_before_with_half_of_the_same() {
        let mut lengths = Lengths::default();
        let mut place = |steps: f64| lengths.place(Length::of(1.0, steps));
        assert_eq!(place(3.0), None);
        assert_eq!(place(3.0), Some(0.5));
        assert_eq!(place(4.0), Some(1.0));
        assert_eq!(place(2.0), Some(0.0));
        assert_eq!(place(4.0), Some(0.875));
        assert_eq!((lengths.tasks, lengths.counts.len()), (5, 3));
    }

    /// How many tasks it takes until it is said, with an error of 5%, that tasks are longer where they are given something that adds so
    /// many steps.
    fn said(seed: Seed, more: f64, tasks: u64) -> Option<u64> {
        let (mut lengths, mut evidence) = (Lengths::default(), EvidenceAbove::new(0.0));
        (0..tasks).find(|number| {
            let draw = |label: &str| seed.derive(label, *number).unit();
            let given = draw("given") < 0.5;
            let steps = 3.0 + (3.0 * draw("steps")).floor() + if given { more } else { 0.0 };
            if let Some(place) = lengths.place(Length::of(1.0, steps)) {
                evidence.add(given, 0.5, place);
            }
            evidence.value() >= 20.0
        })
    }

    #[test]
    fn what_adds_nothing_is_seldom_said_to_and_what_adds_two_steps_is_within_a_hundred_tasks() {
        let seeds = || (0..200).map(|number| Seed(11).derive("ledger", number));
        let wrong = seeds().filter(|seed| said(*seed, 0.0, 100).is_some());
        // At most one in twenty in the mean.
        let wrong = wrong.count();
        assert!(wrong <= 10, "{wrong} of 200");
        let found = seeds().take(20).filter_map(|seed| said(seed, 2.0, 100));
        assert_eq!(found.count(), 20);
    }
}
