//! The client of a worker process, on the host's side: sends requests to its keeper.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use futures::{
    channel::oneshot,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::{Error, ErrorKind, Result, contract::TokenSink};

use super::{
    config::IsolatedConfig,
    event::{Event, Pending, Reply},
    keeper::Keeper,
    protocol::{Answer, Ask, Load, Loaded, ToWorker, request_frame},
};
use crate::{
    convert::{timed_out, worker_failed},
    queue::LONGEST_WAIT,
};

/// The handle of a worker process; dropping it ends the process.
pub(super) struct Client {
    events: Sender<Event>,
    keeper: Option<JoinHandle<()>>,
    next: AtomicU64,
    process_id: Arc<AtomicU32>,
    grace: Duration,
}

impl Client {
    /// Starts a worker and waits until it has loaded its model.
    pub(super) fn start(config: IsolatedConfig<Load>) -> Result<(Self, Loaded)> {
        let operation = config.model.operation();
        let program = config.program(operation)?;
        let folder = env::current_dir().map_err(|error| {
            Error::new(
                ErrorKind::Unavailable,
                operation,
                "the current folder does not exist",
            )
            .hint("start the host in a folder that is not removed")
            .source_from(error)
        })?;
        let grace = config.grace;
        let (events, inbox) = mpsc::channel();
        let (first, loaded) = mpsc::channel();
        let process_id = Arc::new(AtomicU32::new(0));
        let keeper = Keeper::new(
            config,
            program,
            folder,
            events.clone(),
            process_id.clone(),
            first,
        );
        let keeper = thread::Builder::new()
            .name("llama-keeper".to_owned())
            .spawn(move || keeper.run(&inbox))
            .map_err(|error| {
                worker_failed(operation, "the system starts no thread").source_from(error)
            })?;
        let loaded = loaded
            .recv()
            .unwrap_or_else(|_| Err(worker_failed(operation, "the worker did not start")))?;
        let client = Self {
            events,
            keeper: Some(keeper),
            next: AtomicU64::new(0),
            process_id,
            grace,
        };
        Ok((client, loaded))
    }

    /// The process id of the present worker; `None` while there is none.
    pub(super) fn process_id(&self) -> Option<u32> {
        let id = self.process_id.load(Ordering::Relaxed);
        (id != 0).then_some(id)
    }

    /// Sends a request and waits, at most `limit`. Dropping the future cancels the request.
    pub(super) async fn ask(
        &self,
        operation: &'static str,
        limit: Duration,
        ask: Ask,
        sink: Option<Arc<dyn TokenSink>>,
    ) -> Result<Answer> {
        let (reply, answer) = oneshot::channel();
        let reply = Box::new(move |given| {
            // The caller may have been dropped.
            let _ = reply.send(given);
        });
        let mut cancel_on_drop = self.send(operation, limit, ask, sink, true, reply)?;
        match select(answer, Delay::new(limit.min(LONGEST_WAIT))).await {
            Either::Left((answer, _)) => {
                cancel_on_drop.answered = true;
                answer.unwrap_or_else(|_| Err(gone(operation)))
            }
            Either::Right(_) => Err(timed_out(operation, limit)),
        }
    }

    /// Sends a request about the vocabulary and blocks, at most `limit`; does not wait for a worker that is starting.
    pub(super) fn ask_now(
        &self,
        operation: &'static str,
        limit: Duration,
        ask: Ask,
    ) -> Result<Answer> {
        let (reply, answer) = mpsc::channel();
        let reply = Box::new(move |given| {
            let _ = reply.send(given);
        });
        let _cancel_on_drop = self.send(operation, limit, ask, None, false, reply)?;
        answer.recv_timeout(limit).unwrap_or_else(|why| {
            Err(match why {
                mpsc::RecvTimeoutError::Timeout => timed_out(operation, limit),
                mpsc::RecvTimeoutError::Disconnected => gone(operation),
            })
        })
    }

    fn send(
        &self,
        operation: &'static str,
        limit: Duration,
        ask: Ask,
        sink: Option<Arc<dyn TokenSink>>,
        may_wait: bool,
        reply: Reply,
    ) -> Result<CancelOnDrop> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let change = ask.change();
        let frame = request_frame(operation, &ToWorker::Ask { id, ask })?;
        let pending = Pending {
            operation,
            change,
            frame: Some(frame),
            may_wait,
            reply: Some(reply),
            sink,
            kill_at: Instant::now()
                .checked_add(limit.saturating_add(self.grace))
                .filter(|_| may_wait),
        };
        (self.events.send(Event::Ask(id, pending))).map_err(|_| gone(operation))?;
        Ok(CancelOnDrop {
            id,
            events: self.events.clone(),
            answered: false,
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.events.send(Event::Close);
        let Some(keeper) = self.keeper.take() else {
            return;
        };
        // A token sink may hold the last handle; then the keeper's thread drops it, and cannot wait for itself.
        if keeper.thread().id() != thread::current().id() {
            let _ = keeper.join();
        }
    }
}

/// Cancels a request when it is dropped, unless it was answered.
struct CancelOnDrop {
    id: u64,
    events: Sender<Event>,
    answered: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if !self.answered {
            let _ = self.events.send(Event::Cancel(self.id));
        }
    }
}

fn gone(operation: &'static str) -> Error {
    worker_failed(
        operation,
        "the worker process is not available at the moment",
    )
}
