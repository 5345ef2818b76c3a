//! Events of a worker process's keeper, and the requests that wait for it.

use std::{sync::Arc, time::Instant};

use journeyman::{Result, contract::TokenSink};

use super::protocol::{AdapterChange, Answer, FromWorker};

/// An event of a keeper. Requests and workers are named by number.
pub(super) enum Event {
    Ask(u64, Pending),
    /// The caller of this request is gone.
    Cancel(u64),
    /// A message of this worker.
    Said(u64, FromWorker),
    /// This worker's output has ended; with the fault of the output, if it was invalid.
    Ended(u64, Option<&'static str>),
    Close,
}

/// The receiver of an answer.
pub(super) type Reply = Box<dyn FnOnce(Result<Answer>) + Send>;

/// A request that is not answered yet.
pub(super) struct Pending {
    pub(super) operation: &'static str,
    /// The change of adapters that the request makes, if any.
    pub(super) change: Option<AdapterChange>,
    /// The frame to send; `None` once it was sent.
    pub(super) frame: Option<Vec<u8>>,
    /// Whether it may wait for a worker that is starting.
    pub(super) may_wait: bool,
    /// `None` once the caller is gone.
    pub(super) reply: Option<Reply>,
    pub(super) sink: Option<Arc<dyn TokenSink>>,
    /// The time at which a worker that has not answered counts as hanging; `None` for requests that do not show it.
    pub(super) kill_at: Option<Instant>,
}

impl Pending {
    pub(super) fn answer(&mut self, answer: Result<Answer>) {
        if let Some(reply) = self.reply.take() {
            reply(answer);
        }
    }
}
