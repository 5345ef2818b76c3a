//! The tasks that a skill's bundle covers.

use std::collections::BTreeSet;

use crate::{
    domain::{BundleCase, CaseKind},
    id::TaskId,
    library::Entry,
};

/// At how many tasks a bundle has whole attempts before those that went well add no more: each is played at every change.
const ENOUGH_TASKS: usize = 4;

/// The tasks of which a bundle has whole attempts that are to go well again.
pub(crate) struct Covered(BTreeSet<TaskId>);

impl Covered {
    /// Those of a skill's bundle and of the cases that are to come to it.
    pub(crate) fn of<'a>(
        entry: &'a Entry,
        coming: impl IntoIterator<Item = &'a BundleCase>,
    ) -> Self {
        let bundle = entry.life.bundle.iter().map(|bundled| &bundled.case);
        let cases = bundle.chain(coming);
        let whole = cases.filter(|case| case.kind != CaseKind::Negative && case.is_whole());
        Self(whole.map(|case| case.task.id.clone()).collect())
    }

    /// Whether a whole attempt at a task would add something.
    pub(crate) fn lacks(&self, task: &TaskId) -> bool {
        self.0.len() < ENOUGH_TASKS && !self.0.contains(task)
    }

    /// Takes a task in, of which a whole attempt adds something; whether it does.
    pub(crate) fn take(&mut self, task: &TaskId) -> bool {
        self.lacks(task) && self.0.insert(task.clone())
    }
}
