//! The tasks that a skill's bundle covers with whole-attempt cases.

use std::collections::BTreeSet;

use crate::{
    domain::{BundleCase, CaseKind},
    id::TaskId,
    library::Entry,
};

/// Greatest number of tasks of which a bundle takes whole-attempt cases that have to pass. Bounded, since every case is played
/// at each change of the skill or its bundle.
const ENOUGH_TASKS: usize = 4;

/// The tasks of which a bundle has whole-attempt cases that have to pass, negative cases aside.
pub(crate) struct Covered(BTreeSet<TaskId>);

impl Covered {
    /// The tasks of a skill's bundle and of the cases that will be added to it.
    pub(crate) fn of<'a>(
        entry: &'a Entry,
        coming: impl IntoIterator<Item = &'a BundleCase>,
    ) -> Self {
        let bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
        let cases = bundle.chain(coming);
        let whole = cases.filter(|case| case.kind != CaseKind::Negative && case.is_whole());
        Self(whole.map(|case| case.task.id.clone()).collect())
    }

    /// Whether a whole-attempt case of a task is still wanted.
    pub(crate) fn lacks(&self, task: &TaskId) -> bool {
        self.0.len() < ENOUGH_TASKS && !self.0.contains(task)
    }

    /// Adds a task if a whole-attempt case of it is still wanted; returns whether it was.
    pub(crate) fn insert(&mut self, task: &TaskId) -> bool {
        self.lacks(task) && self.0.insert(task.clone())
    }
}
