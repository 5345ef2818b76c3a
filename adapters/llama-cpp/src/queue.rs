//! How a request comes to the worker, and an answer back.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{
    channel::oneshot,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::{
    Error, ErrorKind, Result,
    contract::{Generation, TokenScores},
};

use crate::{
    convert::{timed_out, worker_failed},
    generate::Writing,
    score::Scoring,
};

/// Longer waits than a year are a year's.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// What is computed for whom.
pub(crate) enum Work {
    Write(Box<Writing>, Answer<Generation>),
    Score(Scoring, Answer<Vec<TokenScores>>),
}

/// Work on its way to the worker.
pub(crate) struct Request {
    pub(crate) work: Work,
    pub(crate) adapter: Option<String>,
    pub(crate) ticket: Ticket,
}

/// A place in the queue; dropping it gives the place back.
#[derive(Debug)]
pub(crate) struct Ticket(Arc<AtomicUsize>);

impl Ticket {
    /// A place, if fewer than `most` are taken.
    pub(crate) fn take(places: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let taken = places.fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            (taken < most).then_some(taken + 1)
        });
        taken.is_ok().then(|| Self(places.clone()))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Sends an answer from the worker's thread. Nobody may wait for it any more, and the host's waker may panic: neither is
/// the worker's affair.
pub(crate) fn tell<T>(reply: oneshot::Sender<T>, answer: T) {
    if catch_unwind(AssertUnwindSafe(|| reply.send(answer).is_ok())).is_err() {
        tracing::warn!("a host panicked when it was told its answer");
    }
}

/// Where an answer goes, and until when it is wanted.
pub(crate) struct Answer<T> {
    operation: &'static str,
    limit: Duration,
    deadline: Option<Instant>,
    reply: oneshot::Sender<Result<T>>,
}

/// The asker's side of an [`Answer`].
pub(crate) struct Awaited<T> {
    operation: &'static str,
    limit: Duration,
    deadline: Option<Instant>,
    answer: oneshot::Receiver<Result<T>>,
}

/// The two ends of a request that was made at `called` and may take `limit` from then on.
pub(crate) fn answer<T>(
    operation: &'static str,
    called: Instant,
    limit: Duration,
) -> (Answer<T>, Awaited<T>) {
    let (reply, answer) = oneshot::channel();
    let deadline = called.checked_add(limit);
    let ours = Answer {
        operation,
        limit,
        deadline,
        reply,
    };
    let theirs = Awaited {
        operation,
        limit,
        deadline,
        answer,
    };
    (ours, theirs)
}

impl<T> Answer<T> {
    /// Whether somebody still waits for it.
    pub(crate) fn wanted(&self, now: Instant) -> Result<()> {
        if self.reply.is_canceled() {
            return Err(Error::new(
                ErrorKind::Cancelled,
                self.operation,
                "the future was dropped",
            ));
        }
        match self.deadline {
            Some(deadline) if now >= deadline => Err(timed_out(self.operation, self.limit)),
            _ => Ok(()),
        }
    }

    pub(crate) fn operation(&self) -> &'static str {
        self.operation
    }

    pub(crate) fn send(self, result: Result<T>) {
        tell(self.reply, result);
    }
}

impl<T> Awaited<T> {
    /// Waits, no longer than the limit: the worker looks at the time between decodes only.
    pub(crate) async fn wait(self) -> Result<T> {
        let left = match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            None => LONGEST_WAIT,
        };
        match select(self.answer, Delay::new(left.min(LONGEST_WAIT))).await {
            Either::Left((answer, _)) => answer.unwrap_or_else(|_| {
                Err(worker_failed(
                    self.operation,
                    "the model's worker has ended",
                ))
            }),
            Either::Right(_) => Err(timed_out(self.operation, self.limit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn a_limit_counts_from_the_call() {
        let limit = Duration::from_secs(3600);
        let called = Instant::now();
        let (ours, _theirs) = answer::<()>("test", called, limit);
        assert!(ours.wanted(called).is_ok());
        assert!(ours.wanted(called + limit).is_err());
        let passed = Duration::from_millis(1);
        let (_ours, theirs) = answer::<()>("test", called.checked_sub(passed).unwrap(), passed);
        let error = block_on(theirs.wait()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
}
