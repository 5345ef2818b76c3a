//! What happens to the keeper of a worker process, and the requests that wait for it.

use std::{sync::Arc, time::Instant};

use journeyman::{Result, contract::TokenSink};

use super::protocol::{AdapterChange, Answer, FromWorker};

/// What happens to a keeper.
pub(super) enum Event {
    Ask(u64, Pending),
    /// Nobody waits any more.
    Cancel(u64),
    /// By which worker, and what.
    Said(u64, FromWorker),
    /// Nothing more comes from this worker; with what it wrote instead, if anything.
    Ended(u64, Option<&'static str>),
    Close,
}

/// Where an answer goes.
pub(super) type Reply = Box<dyn FnOnce(Result<Answer>) + Send>;

/// A request that is not answered yet.
pub(super) struct Pending {
    pub(super) operation: &'static str,
    /// Which adapter the worker has when it is done, or has not any more.
    pub(super) change: Option<AdapterChange>,
    /// What is sent; gone once it was.
    pub(super) frame: Option<Vec<u8>>,
    /// Whether it may wait for a worker that is being started.
    pub(super) patient: bool,
    /// `None` once nobody waits.
    pub(super) reply: Option<Reply>,
    pub(super) sink: Option<Arc<dyn TokenSink>>,
    /// A worker that has not answered then hangs; `None` where that is no sign of it.
    pub(super) kill_at: Option<Instant>,
}

impl Pending {
    pub(super) fn answer(&mut self, answer: Result<Answer>) {
        if let Some(reply) = self.reply.take() {
            reply(answer);
        }
    }
}
