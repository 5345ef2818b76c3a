//! Requests on their way to the worker, and their answers.

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

/// Maximum wait: longer limits count as a year.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// The work of a request and the receiver of its answer.
pub(crate) enum Work {
    Write(Box<Writing>, Answer<Generation>),
    Score(Scoring, Answer<Vec<TokenScores>>),
}

/// A request on its way to the worker.
pub(crate) struct Request {
    pub(crate) work: Work,
    pub(crate) adapter: Option<String>,
    /// Whether it runs with nothing else in memory.
    pub(crate) alone: bool,
    pub(crate) ticket: Ticket,
}

/// A place in the queue; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Ticket(Arc<AtomicUsize>);

impl Ticket {
    /// Takes a place, if fewer than `most` are taken.
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

/// Sends an answer from the worker's thread. The caller may be gone, and the host's waker may panic; neither may
/// disturb the worker.
pub(crate) fn send_answer<T>(reply: oneshot::Sender<T>, answer: T) {
    if catch_unwind(AssertUnwindSafe(|| reply.send(answer).is_ok())).is_err() {
        tracing::warn!("the host's code panicked when it received an answer");
    }
}

/// The sender of an answer, with its deadline.
pub(crate) struct Answer<T> {
    operation: &'static str,
    limit: Duration,
    deadline: Option<Instant>,
    reply: oneshot::Sender<Result<T>>,
}

/// The receiver of an [`Answer`].
pub(crate) struct Awaited<T> {
    operation: &'static str,
    limit: Duration,
    deadline: Option<Instant>,
    answer: oneshot::Receiver<Result<T>>,
}

/// Both ends of a request that was made at `called` and may take `limit` from then on.
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
    /// Checks that the caller still waits and the deadline has not passed.
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
        send_answer(self.reply, result);
    }
}

impl<T> Awaited<T> {
    /// Waits at most until the deadline: the worker checks the time only between decodes.
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
