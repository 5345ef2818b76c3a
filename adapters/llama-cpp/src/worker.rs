//! The thread that owns a context, and how it is asked.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use futures::{
    channel::oneshot,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::{
    Error, ErrorKind, ModelId, Result,
    contract::{GenerateRequest, Generation, ScoreRequest, TokenScores},
};

pub(crate) use crate::decode::Limits;
use crate::{
    convert::{timed_out, worker_failed},
    decode::{Engine, GoOn},
    generate::generate,
    render::Renderer,
    score::{Passes, score},
};

/// Longer waits than a year are a year's.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// What the worker is asked.
pub(crate) enum Request {
    Generate(GenerateRequest, Answer<Generation>),
    Score(ScoreRequest, Passes, Answer<Vec<TokenScores>>),
}

/// Where an answer goes, and until when it is wanted.
pub(crate) struct Answer<T> {
    operation: &'static str,
    limit: Duration,
    deadline: Option<Instant>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T> Answer<T> {
    /// Whether somebody still waits for it.
    fn wanted(&self) -> Result<()> {
        if self.reply.is_canceled() {
            return Err(Error::new(
                ErrorKind::Cancelled,
                self.operation,
                "the future was dropped",
            ));
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => {
                Err(timed_out(self.operation, self.limit))
            }
            _ => Ok(()),
        }
    }

    /// Does the work and answers; a panic in it is this request's error alone.
    fn serve(
        self,
        engine: &mut Engine<'_>,
        work: impl FnOnce(&mut Engine<'_>, GoOn<'_>) -> Result<T>,
    ) {
        let go_on = || self.wanted();
        let result = self.wanted().and_then(|()| {
            engine.reset();
            let done =
                catch_unwind(AssertUnwindSafe(|| work(engine, &go_on))).unwrap_or_else(|_| {
                    Err(worker_failed(
                        self.operation,
                        "the worker panicked on this request",
                    ))
                });
            if done.is_ok() {
                engine.trust();
            }
            done
        });
        // Nobody waits any more: then nobody needs it.
        let _ = self.reply.send(result);
    }
}

/// The handle of a worker; dropping it ends the thread.
pub(crate) struct Worker {
    /// `None` only while it is dropped.
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread and waits until its context stands.
    pub(crate) fn start(renderer: Arc<Renderer>, limits: Limits, id: ModelId) -> Result<Self> {
        let (requests, queue) = mpsc::channel();
        let (ready, standing) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("llama-cpp".to_owned())
            .spawn(move || match Engine::new(&renderer, limits) {
                Ok(mut engine) => {
                    let _ = ready.send(Ok(()));
                    serve_all(&queue, &mut engine, &id);
                }
                Err(error) => {
                    let _ = ready.send(Err(error));
                }
            })
            .map_err(|error| {
                worker_failed("LlamaCpp::load", "the system starts no thread").source_from(error)
            })?;
        standing
            .recv()
            .unwrap_or_else(|_| Err(worker_failed("LlamaCpp::load", "the worker did not start")))?;
        Ok(Self {
            requests: Some(requests),
            thread: Some(thread),
        })
    }

    /// Asks and waits, at most `limit`. Dropping the future takes the request back.
    pub(crate) async fn ask<T>(
        &self,
        operation: &'static str,
        limit: Duration,
        request: impl FnOnce(Answer<T>) -> Request,
    ) -> Result<T> {
        let gone = || worker_failed(operation, "the model's worker has ended");
        let (reply, answer) = oneshot::channel();
        let request = request(Answer {
            operation,
            limit,
            deadline: Instant::now().checked_add(limit),
            reply,
        });
        let requests = self.requests.as_ref().ok_or_else(gone)?;
        requests.send(request).map_err(|_| gone())?;
        // The worker looks at the time between decodes only.
        match select(answer, Delay::new(limit.min(LONGEST_WAIT))).await {
            Either::Left((answer, _)) => answer.unwrap_or_else(|_| Err(gone())),
            Either::Right(_) => Err(timed_out(operation, limit)),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.requests = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        // A token sink may hold the last handle: its thread cannot wait for itself.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join();
        }
    }
}

fn serve_all(queue: &Receiver<Request>, engine: &mut Engine<'_>, id: &ModelId) {
    while let Ok(request) = queue.recv() {
        match request {
            Request::Generate(request, answer) => {
                answer.serve(engine, |engine, go_on| {
                    generate(engine, id, &request, go_on)
                });
            }
            Request::Score(request, passes, answer) => {
                answer.serve(engine, |engine, go_on| {
                    score(engine, &request, passes, go_on)
                });
            }
        }
    }
}
