//! Calls of a host's parts: bounded in time, their panics contained, and blocking ones noticed.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use futures::{
    FutureExt,
    future::{Either, select},
};

use super::performer::Performer;
use crate::{
    contract::{Clock, Episode},
    domain::{Action, Observation, Transition},
    error::{Error, ErrorKind, Result},
    id::Timestamp,
    report::{Finding, FindingKind},
};

/// A part that keeps its thread for so long between two await points is said to block.
const BLOCKS_FROM: Duration = Duration::from_secs(1);
/// How much of a panic's message an error carries, in characters.
const MESSAGE_CHARS: usize = 500;

impl Performer {
    /// Bounds a call in time, where there is a clock, and turns its panic into an error.
    ///
    /// The limit is kept at the call's await points: code that blocks its thread is not interrupted. It is noticed
    /// when it returns, and reported once.
    pub(crate) async fn bounded<T>(
        &self,
        operation: &'static str,
        limit: Duration,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.bounded_around(operation, limit, &AtomicU64::new(0), call)
            .await
    }

    /// The same for a call that calls other parts: `others` counts the milliseconds for which those block, which are not
    /// this part's.
    pub(crate) async fn bounded_around<T>(
        &self,
        operation: &'static str,
        limit: Duration,
        others: &AtomicU64,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let call = AssertUnwindSafe(call).catch_unwind().map(|outcome| {
            outcome
                .unwrap_or_else(|payload| Err(panicked(operation, &*payload)))
                .map_err(|error| self.redacting.error(error))
        });
        let Some(clock) = &self.backends.clock else {
            return call.await;
        };
        let limit_ms = milliseconds(limit);
        let until = Timestamp(clock.now().0.saturating_add(limit_ms));
        let call = pin!(self.watched(operation, clock.as_ref(), others, call));
        match select(call, clock.sleep_until(until)).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(((), _)) => Err(Error::new(
                ErrorKind::Timeout,
                operation,
                format!("no answer within {limit_ms} ms"),
            )
            .temporary()
            .hint("raise the limit in the recipe, or look why the part hangs")),
        }
    }

    /// Measures each poll of a call and reports one that blocks its thread.
    async fn watched<T>(
        &self,
        operation: &'static str,
        clock: &dyn Clock,
        others: &AtomicU64,
        call: impl Future<Output = T>,
    ) -> T {
        let mut call = pin!(call);
        poll_fn(|context| {
            let (before, others_before) = (clock.now(), others.load(Ordering::Relaxed));
            let polled = call.as_mut().poll(context);
            let took = clock.now().0.saturating_sub(before.0);
            let took_by_others = others.load(Ordering::Relaxed).saturating_sub(others_before);
            let took = took.saturating_sub(took_by_others);
            if took >= milliseconds(BLOCKS_FROM) {
                self.observed.note(blocks(operation, took));
            }
            polled
        })
        .await
    }
}

fn blocks(operation: &'static str, took: u64) -> Finding {
    let hint = match operation {
        "Roles::play" => {
            "await instead of blocking, or wrap the model that plays the roles in `builtin::OnThread`"
        }
        "Performer::refresh_index" => {
            "await instead of blocking, or wrap the retriever in `builtin::OnThread`"
        }
        "Executor::execute" => {
            "await instead of blocking, or wrap the model that the executor calls in `builtin::OnThread`"
        }
        "SkillStore::commit" | "Dialect::skill_text" => {
            "await instead of blocking, or give the work to a thread of your own"
        }
        _ => "await instead of blocking, or wrap the part in `builtin::OnThread`",
    };
    Finding::new(
        FindingKind::BlockingPart,
        format!("the time limits of {operation} are not kept"),
        format!("it blocked its thread for {took} ms; a limit is kept at await points only"),
        hint,
    )
    .about(operation)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The error of a contained panic, with the panic's message.
fn panicked(operation: &'static str, payload: &(dyn Any + Send)) -> Error {
    let message = panic_message(payload);
    Error::new(
        ErrorKind::Panicked,
        operation,
        format!("this part panicked: {message}"),
    )
    .hint("the run goes on without its answer; a part should return an error instead")
}

/// What a panic said.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("it gave no message");
    text.chars().take(MESSAGE_CHARS).collect()
}

/// An episode whose panics and blocking steps are its own: the executor that steps it gets an error, and no blame.
#[derive(Debug)]
pub(crate) struct Contained<'a> {
    episode: &'a mut dyn Episode,
    performer: &'a Performer,
    /// For how many milliseconds its steps took their thread.
    took: &'a AtomicU64,
}

impl<'a> Contained<'a> {
    pub(crate) fn new(
        episode: &'a mut dyn Episode,
        performer: &'a Performer,
        took: &'a AtomicU64,
    ) -> Self {
        Self {
            episode,
            performer,
            took,
        }
    }
}

#[async_trait]
impl Episode for Contained<'_> {
    fn observation(&self) -> &Observation {
        // It has no error to return, so the panic goes on with its place in front.
        let observed = catch_unwind(AssertUnwindSafe(|| self.episode.observation()));
        observed.unwrap_or_else(|payload| {
            let message = panic_message(&*payload);
            resume_unwind(Box::new(format!("in Episode::observation: {message}")))
        })
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        const STEP: &str = "Episode::step";
        let episode = &mut *self.episode;
        let stepping = AssertUnwindSafe(async { episode.step(action).await }).catch_unwind();
        let stepped = match &self.performer.backends.clock {
            None => stepping.await,
            Some(clock) => {
                let mut stepping = pin!(stepping);
                let timed = poll_fn(|context| {
                    let before = clock.now();
                    let polled = stepping.as_mut().poll(context);
                    let took = clock.now().0.saturating_sub(before.0);
                    self.took.fetch_add(took, Ordering::Relaxed);
                    polled
                });
                let none = AtomicU64::new(0);
                let watched = self.performer.watched(STEP, clock.as_ref(), &none, timed);
                watched.await
            }
        };
        stepped.unwrap_or_else(|payload| Err(panicked(STEP, &*payload)))
    }

    async fn close(self: Box<Self>) -> Result<()> {
        // The driver owns the episode and closes it.
        Ok(())
    }
}
