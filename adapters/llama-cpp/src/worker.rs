//! The thread that owns the weights and the context, and how it is asked.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::AtomicUsize,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use futures::{FutureExt, channel::oneshot, future::Shared};
use journeyman::{Error, ModelId, Result};

use crate::{
    config::LlamaConfig,
    context::{Context, Limits, Row},
    convert::{no_adapter, too_many_wait, worker_failed},
    loaded::load_model,
    lora::Adapters,
    queue::{Answer, Request, Ticket, Work, answer},
    render::Renderer,
    saved,
    scheduler::Scheduler,
    stats::EngineStats,
};

/// How long those who come together are waited for.
const LONGEST_GATHERING: Duration = Duration::from_micros(500);

/// What the worker is told.
enum Message {
    Work(Box<Request>),
    /// To be done with the context as it is.
    Prefixes(Prefixes, oneshot::Sender<Result<usize>>),
    /// To be done to the model, without a context.
    Adapter(Adapter, oneshot::Sender<Result<()>>),
}

/// What is done with the prefix cache. The answer is a number of tokens.
pub(crate) enum Prefixes {
    Save(PathBuf),
    Restore(PathBuf),
    Forget,
}

/// A change of the adapters.
pub(crate) enum Adapter {
    Load { name: String, path: PathBuf },
    Unload { name: String },
}

/// What the thread needs.
pub(crate) struct Setup {
    pub(crate) config: LlamaConfig,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) limits: Limits,
    pub(crate) gpu_layers: u32,
    pub(crate) id: ModelId,
}

/// The handle of a worker; dropping it ends the thread.
pub(crate) struct Worker {
    /// `None` only while it is dropped.
    messages: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    ended: Shared<oneshot::Receiver<Error>>,
    places: Arc<AtomicUsize>,
    most_waiting: usize,
    refused: AtomicUsize,
    stats: Arc<Mutex<EngineStats>>,
}

impl Worker {
    /// Starts the thread and waits until its context stands.
    pub(crate) fn start(setup: Setup) -> Result<Self> {
        let most_waiting = setup.config.max_waiting as usize;
        let (messages, queue) = mpsc::channel();
        let (ready, standing) = mpsc::channel();
        let stats = Arc::new(Mutex::default());
        let shown = stats.clone();
        let (tell, ended) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("llama-cpp".to_owned())
            .spawn(move || {
                if let Err(error) = run(&setup, &queue, &ready, &shown) {
                    let _ = ready.send(Err(error.clone()));
                    let _ = tell.send(error);
                }
            })
            .map_err(|error| {
                worker_failed("LlamaCpp::load", "the system starts no thread").source_from(error)
            })?;
        standing
            .recv()
            .unwrap_or_else(|_| Err(worker_failed("LlamaCpp::load", "the worker did not start")))?;
        Ok(Self {
            messages: Some(messages),
            thread: Some(thread),
            ended: ended.shared(),
            places: Arc::default(),
            most_waiting,
            refused: AtomicUsize::new(0),
            stats,
        })
    }

    /// Asks and waits, at most `limit` from the call on. Dropping the future takes the request back.
    pub(crate) async fn ask<T>(
        &self,
        operation: &'static str,
        called: Instant,
        limit: Duration,
        adapter: Option<String>,
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

    pub(crate) async fn adapter(&self, operation: &'static str, what: Adapter) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        self.send(operation, Message::Adapter(what, reply))?;
        answer.await.unwrap_or_else(|_| Err(gone(operation)))
    }

    /// Waits until the thread has ended, and says why.
    pub(crate) async fn ended(&self) -> Error {
        let why = self.ended.clone().await;
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
        // A token sink may hold the last handle: its thread cannot wait for itself.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join();
        }
    }
}

fn gone(operation: &'static str) -> Error {
    worker_failed(operation, "the model's worker has ended")
}

/// Why a context came to its end.
enum End {
    Gone,
    Adapter(Adapter, oneshot::Sender<Result<()>>),
}

fn run(
    setup: &Setup,
    queue: &Receiver<Message>,
    ready: &Sender<Result<()>>,
    stats: &Mutex<EngineStats>,
) -> Result<()> {
    let mut model = load_model(&setup.config, Some(setup.gpu_layers))?;
    let mut adapters = Adapters::load(&mut model, &setup.config.adapters)?;
    let mut scheduler = Scheduler::new(&setup.renderer, &setup.id);
    let mut changes = VecDeque::new();
    loop {
        let mut context = Context::new(&model, setup.limits)?;
        let _ = ready.send(Ok(()));
        let mut serving = Serving {
            setup,
            context: &mut context,
            scheduler: &mut scheduler,
            adapters: &mut adapters,
            changes: &mut changes,
            computing_with: None,
            batch_time: Duration::ZERO,
            stats,
        };
        let end = serving.all(queue);
        scheduler.restart_all(&mut context);
        drop(context);
        match end {
            End::Gone => return Ok(()),
            // llama.cpp loads adapters into a model, which no context may borrow meanwhile.
            End::Adapter(change, reply) => {
                let _ = reply.send(adapters.change(setup, &mut model, change));
            }
        }
    }
}

/// A context at work.
struct Serving<'s, 'r, 'm> {
    setup: &'s Setup,
    context: &'s mut Context<'m>,
    scheduler: &'s mut Scheduler<'r>,
    adapters: &'s mut Adapters,
    /// What is to be done as soon as nothing is being computed.
    changes: &'s mut VecDeque<(Adapter, oneshot::Sender<Result<()>>)>,
    computing_with: Option<String>,
    /// How long the last batch took.
    batch_time: Duration,
    stats: &'s Mutex<EngineStats>,
}

impl Serving<'_, '_, '_> {
    fn all(&mut self, queue: &Receiver<Message>) -> End {
        loop {
            // A text is written with one adapter from its beginning to its end.
            if self.scheduler.is_clear()
                && let Some((change, reply)) = self.changes.pop_front()
            {
                return End::Adapter(change, reply);
            }
            if let Some(end) = self.listen(queue) {
                return end;
            }
            self.scheduler.closing = !self.changes.is_empty();
            let step = catch_unwind(AssertUnwindSafe(|| self.step()));
            if step.is_err() {
                // Not to be expected: what a request's own part does is caught with the request.
                self.scheduler.abandon(self.context);
            }
            // Before the answers: who has one finds it counted.
            self.show();
            self.scheduler.deliver();
        }
    }

    /// Takes what was sent; waits for it where there is nothing to do, and then a moment longer for those who come
    /// together: a fiftieth of a batch's time buys a batch less.
    fn listen(&mut self, queue: &Receiver<Message>) -> Option<End> {
        let mut until = Instant::now();
        loop {
            let message = if self.scheduler.is_idle() {
                self.show();
                let message = queue.recv().map_err(|_| RecvTimeoutError::Disconnected);
                if !self.setup.limits.deterministic {
                    until = Instant::now() + (self.batch_time / 50).min(LONGEST_GATHERING);
                }
                message
            } else {
                queue.recv_timeout(until.saturating_duration_since(Instant::now()))
            };
            let message = match message {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(End::Gone),
            };
            match message {
                Message::Work(request) => self.scheduler.submit(*request),
                Message::Adapter(change, reply) => {
                    self.changes.push_back((change, reply));
                    if self.scheduler.is_clear() {
                        return None;
                    }
                }
                Message::Prefixes(what, reply) => {
                    let done = self.prefixes(what);
                    // Before the answer, as with requests.
                    self.show();
                    let _ = reply.send(done);
                }
            }
        }
    }

    fn prefixes(&mut self, what: Prefixes) -> Result<usize> {
        let cache = &mut self.scheduler.cache;
        match what {
            Prefixes::Save(folder) => saved::save(
                &folder,
                &self.setup.id,
                self.setup.limits,
                self.adapters,
                self.context,
                cache,
            ),
            Prefixes::Restore(folder) => saved::restore(
                &folder,
                &self.setup.id,
                self.setup.limits,
                self.adapters,
                self.context,
                cache,
            ),
            Prefixes::Forget => {
                let tokens = cache.tokens();
                while cache.evict(self.context) {}
                Ok(tokens)
            }
        }
    }

    fn step(&mut self) {
        let known = self.adapters.names();
        let planned = self.scheduler.plan(self.context, &known);
        if planned.is_empty() {
            return;
        }
        let rows: Vec<Row> = planned.iter().map(|planned| planned.row).collect();
        let start = Instant::now();
        let done = self.switch().and_then(|()| self.context.decode(&rows));
        self.batch_time = start.elapsed();
        match done {
            Ok(()) => self.scheduler.take(self.context, &planned),
            Err(error) => self.scheduler.batch_failed(self.context, &planned, &error),
        }
    }

    /// Lets the context compute with the adapter of the batch.
    fn switch(&mut self) -> Result<()> {
        let wanted = self.scheduler.adapter.clone();
        if wanted == self.computing_with {
            return Ok(());
        }
        let done = match (&wanted, &self.computing_with) {
            (Some(name), _) => match self.adapters.get(name) {
                Some(adapter) => self.context.compute_with(adapter),
                None => Err(no_adapter("LlamaCpp", name, &[])),
            },
            (None, Some(name)) => match self.adapters.get(name) {
                Some(adapter) => self.context.compute_without(adapter),
                None => Ok(()),
            },
            (None, None) => Ok(()),
        };
        if done.is_ok() {
            self.computing_with = wanted;
        }
        done
    }

    fn show(&self) {
        let stats = self.scheduler.stats(self.context);
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner) = stats;
    }
}
