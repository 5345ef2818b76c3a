//! Attempts in the host's own agent loop: beginning them, and completing their groups.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
};

use super::{group::Group, handle::AttemptHandle, journeyman::Journeyman, locking::lock};
use crate::{
    domain::{Mode, Task},
    error::{Error, ErrorKind, Result},
    report::TaskReport,
    run::driver::Deciding,
};

/// Maximum number of waiting groups that one call of `begin` or `learn` completes.
const SETTLED_AT_ONCE: usize = 16;

impl Journeyman {
    /// Begins one attempt in the host's own agent loop. Its gate never explores, unless
    /// [`Options::explore_live`](crate::run::Options::explore_live) says so; skills on trial are offered as in learning. In a read-only session the skills are selected as in an evaluation,
    /// and nothing is learned from the attempt.
    ///
    /// # Errors
    /// The error of the store or the journal. If the retriever or the scorer fails, the attempt begins without skills.
    pub async fn begin(&self, task: Task) -> Result<AttemptHandle> {
        let mut handles = self.begin_group(task, NonZeroUsize::MIN).await?;
        handles.pop().ok_or_else(|| {
            Error::new(
                ErrorKind::Internal,
                "Journeyman::begin",
                "a group without attempts",
            )
        })
    }

    /// Begins `n` attempts at one task that are credited and learned from as a group.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub async fn begin_group(&self, task: Task, n: NonZeroUsize) -> Result<Vec<AttemptHandle>> {
        self.settle_some().await;
        if self.session.read_only {
            let mut handles = Vec::new();
            for _ in 0..n.get() {
                handles.extend(
                    self.begin_as(Mode::Evaluate, task.clone(), NonZeroU32::MIN)
                        .await?,
                );
            }
            return Ok(handles);
        }
        let group = NonZeroU32::try_from(n).unwrap_or(NonZeroU32::MAX);
        self.begin_as(Mode::Train, task, group).await
    }

    async fn begin_as(
        &self,
        mode: Mode,
        task: Task,
        group: NonZeroU32,
    ) -> Result<Vec<AttemptHandle>> {
        let mut recipe = self.session.recipe.clone();
        recipe.attempts.group = group;
        let run = self.session.next_run("begin");
        let (mut machine, mut log) = self
            .session
            .machine(run, recipe, mode, vec![task], true)
            .await?;
        let cost = Deciding::default();
        self.session.decide(&cost, &mut machine, &mut log).await?;
        AttemptHandle::all(&self.session, machine, log, &cost)
    }

    /// Completes the waiting groups: those whose last attempt was abandoned, or whose completion failed or was cancelled.
    /// [`begin`](Self::begin) and [`learn`](Self::learn) also complete some of them, the oldest first, up to the first that
    /// fails.
    ///
    /// # Errors
    /// The first error of a task's policy, the store or the journal; every group is tried before it is returned. A group
    /// whose policy fails is through. A group that the store or the journal refuses permanently (`Unsupported`, `Conflict`,
    /// `Invalid`) is dropped, and its run stays in the journal. Any other failed group keeps waiting. The reports of the
    /// completed groups are then available only as events, and [`AttemptGroup::status`](crate::run::AttemptGroup::status) says what became of one group.
    pub async fn settle(&self) -> Result<Vec<TaskReport>> {
        let mut reports = Vec::new();
        let mut failed = None;
        // Groups are taken one at a time, so that the others keep waiting if this future is dropped.
        let count = lock(&self.session.ready).len();
        for _ in 0..count {
            let Some(group) = self.next_ready() else {
                break;
            };
            match self.session.complete(group).await {
                Ok(report) => reports.extend(report),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(reports), Err)
    }

    /// The group that has waited longest.
    fn next_ready(&self) -> Option<Arc<Group>> {
        let mut ready = lock(&self.session.ready);
        (!ready.is_empty()).then(|| ready.remove(0))
    }

    /// Completes some waiting groups. Stops at the first failure, so that a group that cannot be completed neither prevents
    /// nor slows down new attempts.
    pub(crate) async fn settle_some(&self) {
        for _ in 0..SETTLED_AT_ONCE {
            let Some(group) = self.next_ready() else {
                return;
            };
            if let Err(error) = self.session.complete(group).await {
                tracing::warn!(%error, "a group of attempts could not be completed");
                return;
            }
        }
    }
}
