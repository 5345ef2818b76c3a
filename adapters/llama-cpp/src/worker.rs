//! The worker: the thread that owns the weights and the context, and its handle.

mod inbox;
mod serving;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::AtomicUsize,
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use futures::{FutureExt, channel::oneshot, future::Shared};
use journeyman::{Error, Result, contract::ModelSpeed};
use llama_cpp_2::model::LlamaModel;

pub(crate) use self::inbox::Prefixes;
use self::{
    inbox::{End, Inbox, Message},
    serving::{Serving, show},
};
use crate::{
    context::Context,
    convert::{for_one_request, too_many_wait, worker_failed},
    cores::Threads,
    lora::{AdapterChange, Adapters},
    queue::{Answer, Request, Ticket, Work, answer, send_answer},
    scheduler::Scheduler,
    setup::Setup,
    speed,
    stats::EngineStats,
};

/// The handle of a worker; dropping it ends the thread.
pub(crate) struct Worker {
    /// `None` only during the drop.
    messages: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    lost: Shared<oneshot::Receiver<Error>>,
    places: Arc<AtomicUsize>,
    most_waiting: usize,
    refused: AtomicUsize,
    stats: Arc<Mutex<EngineStats>>,
}

impl Worker {
    /// Starts the thread, and waits until its context is ready and the model's speed is measured.
    pub(crate) fn start(
        setup: Setup,
        weights: LlamaModel,
        threads: Threads,
    ) -> Result<(Self, Option<ModelSpeed>)> {
        let most_waiting = setup.config.max_waiting as usize;
        let (messages, queue) = mpsc::channel();
        let (ready, standing) = mpsc::channel();
        let stats = Arc::new(Mutex::default());
        let shown = stats.clone();
        let (without_context, lost) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("llama-cpp".to_owned())
            .spawn(move || {
                let inbox = Inbox {
                    queue,
                    held: VecDeque::new(),
                    changes: VecDeque::new(),
                };
                if let Err(error) = run(
                    &setup,
                    (weights, threads),
                    inbox,
                    &ready,
                    without_context,
                    &shown,
                ) {
                    let _ = ready.send(Err(error));
                }
            })
            .map_err(|error| {
                worker_failed("LlamaCpp::load", "the system starts no thread").source_from(error)
            })?;
        let speed = standing
            .recv()
            .unwrap_or_else(|_| Err(worker_failed("LlamaCpp::load", "the worker did not start")))?;
        let worker = Self {
            messages: Some(messages),
            thread: Some(thread),
            lost: lost.shared(),
            places: Arc::default(),
            most_waiting,
            refused: AtomicUsize::new(0),
            stats,
        };
        Ok((worker, speed))
    }

    /// Sends a request and waits, at most `limit` from `called` on. Dropping the future cancels the request.
    pub(crate) async fn ask<T>(
        &self,
        operation: &'static str,
        called: Instant,
        limit: Duration,
        (adapter, alone): (Option<String>, bool),
        work: impl FnOnce(Answer<T>) -> Work,
    ) -> Result<T> {
        let (answer, awaited) = answer(operation, called, limit);
        let Some(ticket) = Ticket::take(&self.places, self.most_waiting) else {
            self.refused
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            return Err(too_many_wait(operation, self.most_waiting));
        };
        let request = Request {
            work: work(answer),
            adapter,
            alone,
            ticket,
        };
        self.send(operation, Message::Work(Box::new(request)))?;
        awaited.wait().await
    }

    pub(crate) async fn prefixes(&self, operation: &'static str, what: Prefixes) -> Result<usize> {
        let (reply, answer) = oneshot::channel();
        self.send(operation, Message::Prefixes(what, reply))?;
        answer.await.unwrap_or_else(|_| Err(gone(operation)))
    }

    pub(crate) async fn adapter(&self, operation: &'static str, what: AdapterChange) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        self.send(operation, Message::Adapter(what, reply))?;
        answer.await.unwrap_or_else(|_| Err(gone(operation)))
    }

    /// Waits until the context is lost, and returns the reason. In the host's process the next request tries to create
    /// it again; in a worker process it is better to start a new process.
    pub(crate) async fn lost(&self) -> Error {
        let why = self.lost.clone().await;
        why.unwrap_or_else(|_| gone("LlamaCpp"))
    }

    pub(crate) fn stats(&self) -> EngineStats {
        let refused = self.refused.load(std::sync::atomic::Ordering::Relaxed) as u64;
        let stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        EngineStats { refused, ..*stats }
    }

    fn send(&self, operation: &'static str, message: Message) -> Result<()> {
        let messages = self.messages.as_ref().ok_or_else(|| gone(operation))?;
        messages.send(message).map_err(|_| gone(operation))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.messages = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A token sink may hold the last handle; then the thread drops it, and cannot wait for itself.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join();
        }
    }
}

fn gone(operation: &'static str) -> Error {
    worker_failed(operation, "the model's worker has ended")
}

fn run(
    setup: &Setup,
    (mut model, mut threads): (LlamaModel, Threads),
    mut inbox: Inbox,
    ready: &Sender<Result<Option<ModelSpeed>>>,
    lost: oneshot::Sender<Error>,
    stats: &Mutex<EngineStats>,
) -> Result<()> {
    let mut adapters = Adapters::load(&mut model, &setup.config.adapters)?;
    setup.digests.set(adapters.digests());
    let mut scheduler = Scheduler::new(&setup.renderer, &setup.id);
    let mut first = true;
    let mut lost = Some(lost);
    // Others computed while the model was loaded, or did not.
    threads.count_now(true);
    loop {
        let limits = setup.limits.with_threads(threads.now());
        let end = match Context::new(&model, limits) {
            Ok(mut context) => {
                if std::mem::take(&mut first) {
                    let speed = speed::measure(&mut context, setup.limits.batch);
                    let _ = ready.send(Ok(speed?));
                }
                let mut serving = Serving {
                    setup,
                    context: &mut context,
                    scheduler: &mut scheduler,
                    adapters: &mut adapters,
                    inbox: &mut inbox,
                    computing_with: None,
                    batch_time: Duration::ZERO,
                    stats,
                    threads: &mut threads,
                };
                let end = serving.all();
                scheduler.restart_all(&mut context);
                Some(end)
            }
            Err(error) if first => return Err(error),
            // Memory may be free again when the next request comes.
            Err(error) => refuse(&error, &mut scheduler, &mut inbox, &mut lost, stats),
        };
        match end {
            None => {}
            Some(End::Gone) => return Ok(()),
            Some(End::Cores) => tracing::warn!(
                model = setup.id.as_str(),
                threads = threads.now(),
                of = setup.limits.threads,
                "other programs hold cores, or gave them back: the model computes with another number of threads"
            ),
            // llama.cpp loads adapters into a model, which no context may borrow at that time.
            Some(End::Adapter(change, reply)) => {
                send_answer(reply, adapters.change(setup, &mut model, change));
            }
        }
    }
}

/// Refuses all requests, because there is no context, and waits for the next message.
fn refuse(
    error: &Error,
    scheduler: &mut Scheduler<'_>,
    inbox: &mut Inbox,
    lost: &mut Option<oneshot::Sender<Error>>,
    stats: &Mutex<EngineStats>,
) -> Option<End> {
    let error = for_one_request(error);
    for message in inbox.held.drain(..) {
        match message {
            Message::Work(request) => scheduler.submit(*request),
            Message::Adapter(change, reply) => inbox.changes.push_back((change, reply)),
            Message::Prefixes(_, reply) => send_answer(reply, Err(error.clone())),
        }
    }
    scheduler.refuse(&error);
    show(stats, scheduler.stats(0));
    scheduler.deliver();
    if let Some((change, reply)) = inbox.changes.pop_front() {
        return Some(End::Adapter(change, reply));
    }
    if let Some(lost) = lost.take() {
        send_answer(lost, error);
    }
    let Ok(message) = inbox.next(None) else {
        return Some(End::Gone);
    };
    inbox.held.push_back(message);
    inbox.held.extend(inbox.queue.try_iter());
    None
}
