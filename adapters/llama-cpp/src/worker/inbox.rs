//! The messages that come to a worker's thread.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Instant,
};

use futures::channel::oneshot;
use journeyman::Result;

use crate::{lora::AdapterChange, queue::Request};

/// What the worker is told.
pub(super) enum Message {
    Work(Box<Request>),
    /// To be done with the context as it is.
    Prefixes(Prefixes, oneshot::Sender<Result<usize>>),
    /// To be done to the model, without a context.
    Adapter(AdapterChange, oneshot::Sender<Result<()>>),
}

/// What is done with the prefix cache. The answer is a number of tokens.
pub(crate) enum Prefixes {
    Save(PathBuf),
    Restore(PathBuf),
    Forget,
}

/// Why a context came to its end.
pub(super) enum End {
    Gone,
    Adapter(AdapterChange, oneshot::Sender<Result<()>>),
}

/// What comes to the thread.
pub(super) struct Inbox {
    pub(super) queue: Receiver<Message>,
    /// Taken from the queue already.
    pub(super) held: VecDeque<Message>,
    /// What is to be done as soon as nothing is being computed.
    pub(super) changes: VecDeque<(AdapterChange, oneshot::Sender<Result<()>>)>,
}

impl Inbox {
    /// The next message; waits for it until then, or for ever.
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
