//! The inbox of a worker's thread.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Instant,
};

use futures::channel::oneshot;
use journeyman::Result;

use crate::{lora::AdapterChange, queue::Request};

/// A message to the worker.
pub(super) enum Message {
    Work(Box<Request>),
    /// Done with the present context.
    Prefixes(Prefixes, oneshot::Sender<Result<usize>>),
    /// Done to the model, without a context.
    Adapter(AdapterChange, oneshot::Sender<Result<()>>),
}

/// An operation on the prefix cache. The answer is a number of tokens.
pub(crate) enum Prefixes {
    Save(PathBuf),
    Restore(PathBuf),
    Forget,
}

/// The reason why a context ends.
pub(super) enum End {
    Gone,
    Adapter(AdapterChange, oneshot::Sender<Result<()>>),
    /// Other cores are free than before: a context with another number of threads goes on.
    Cores,
}

/// The messages of the thread.
pub(super) struct Inbox {
    pub(super) queue: Receiver<Message>,
    /// Messages that were already taken from the queue.
    pub(super) held: VecDeque<Message>,
    /// Changes to apply as soon as no request is active.
    pub(super) changes: VecDeque<(AdapterChange, oneshot::Sender<Result<()>>)>,
}

impl Inbox {
    /// The next message; waits until the given time, or without limit.
    pub(super) fn next(
        &mut self,
        until: Option<Instant>,
    ) -> std::result::Result<Message, RecvTimeoutError> {
        if let Some(message) = self.held.pop_front() {
            return Ok(message);
        }
        match until {
            None => (self.queue.recv()).map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                self.queue.recv_timeout(left)
            }
        }
    }
}
