//! [`Performer`]: a host's parts, with caches of their answers, and the bounds of each call of a part: a time limit, contained panics,
//! findings about calls that block their thread, and refusal of answers that are not sound. The methods that perform effects are in
//! the other files of this folder.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::{
    FutureExt,
    future::{Either, select},
};
use tracing::{Instrument, Span};

use crate::{
    contract::{Clock, Components, Episode, SkillScores, Total},
    domain::{Action, Candidate, InformationGain, Observation, Task, Trajectory, Transition},
    error::{Error, ErrorKind, Result},
    id::{RunId, Timestamp},
    library::SkillLibrary,
    run::{
        driver::{
            deciding::Deciding, embedding_cache::EmbeddingCache, fits::Fits,
            known_scores::KnownScores, redaction::Redacting,
        },
        report::{Finding, FindingKind, Observed},
    },
    stations::recipe::Limits,
    telemetry::ToolCalls,
    text::Redactor,
};

/// A single poll that takes at least this long counts as blocking the thread.
const BLOCKS_FROM: Duration = Duration::from_secs(1);
/// Maximum length of a panic's message in an error, in characters.
const MESSAGE_CHARS: usize = 500;

/// Performs effects with a host's parts. [`Journeyman`](crate::run::Journeyman) has one; a host that drives a
/// [`RunMachine`](crate::run::RunMachine) itself makes its own.
#[derive(Clone, Debug)]
pub struct Performer {
    pub(crate) components: Arc<Components>,
    pub(crate) limits: Limits,
    pub(crate) known_scores: Arc<KnownScores>,
    /// The thresholds that were fitted to the model.
    pub(super) fits: Arc<Fits>,
    pub(crate) embedding_cache: Arc<EmbeddingCache>,
    /// The library as this performer last saw it in the store.
    pub(crate) followed: Arc<Mutex<SkillLibrary>>,
    pub(crate) redacting: Arc<Redacting>,
    pub(crate) texts_in_spans: bool,
    /// Whether answers of roles have their generations with them.
    pub(crate) record_roles: bool,
    /// The findings about the host's parts.
    pub(crate) observed: Arc<Observed>,
    /// The time limit of a retrieval and of an embedding: the recipe's of scoring, which a slow scorer does not make longer.
    pub(crate) lookup: Duration,
    /// What the decisions of an attempt cost, where somebody counts it.
    pub(super) deciding: Option<Deciding>,
}

impl Performer {
    /// A performer with empty caches and the default redactor, which redacts the known forms of secrets.
    pub fn new(components: Arc<Components>, limits: Limits) -> Self {
        Self {
            components,
            limits,
            known_scores: Arc::default(),
            fits: Arc::default(),
            embedding_cache: Arc::default(),
            followed: Arc::default(),
            redacting: Arc::default(),
            record_roles: false,
            texts_in_spans: false,
            observed: Arc::default(),
            lookup: limits.score,
            deciding: None,
        }
    }

    /// Sets the limits that a session's models need. Retrieval and embedding keep that of scoring which the performer was made with.
    #[must_use]
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the library from which this performer follows the store, so that it need not load every commit again.
    #[must_use]
    pub fn following(self, library: SkillLibrary) -> Self {
        *self.follow() = library;
        self
    }

    /// Sets the redactor.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Self {
        self.redacting = Arc::new(Redacting::new(redactor));
        self
    }

    /// Sets whether answers of roles have their generations with them ([`Options::record_roles`](crate::run::Options::record_roles)).
    #[must_use]
    pub fn recording_roles(mut self, record: bool) -> Self {
        self.record_roles = record;
        self
    }

    /// Sets whether spans have texts ([`Options::texts_in_spans`](crate::run::Options::texts_in_spans)).
    #[must_use]
    pub fn with_texts_in_spans(mut self, with: bool) -> Self {
        self.texts_in_spans = with;
        self
    }

    /// The redactor for texts in spans, where spans have texts.
    pub(super) fn texts(&self) -> Option<&Redactor> {
        self.texts_in_spans.then_some(&self.redacting.redactor)
    }

    /// Returns the redacted task, as a machine and a journal may see it. If the task holds secrets, the performer keeps the
    /// original for the run's attempts until [`forget`](Self::forget).
    ///
    /// # Errors
    /// `Invalid` where the run's id, the task's id or the task's category holds a secret.
    pub fn withhold(&self, run: &RunId, task: Task) -> Result<Task> {
        self.redacting.withhold(run, task)
    }

    /// Drops the original tasks of a finished run.
    pub fn forget(&self, run: &RunId) {
        self.redacting.forget(run);
    }
}

// The bounds of a call of a part.

impl Performer {
    /// Runs a call with a time limit, if the host gave a clock, and turns a panic into an error.
    ///
    /// The limit takes effect only at the call's await points: code that blocks its thread is not interrupted. A blocking
    /// call is detected when its poll returns, and reported once as a finding.
    pub(crate) async fn bounded<T>(
        &self,
        operation: &'static str,
        limit: Duration,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.bounded_around(operation, limit, &AtomicU64::new(0), call)
            .await
    }

    /// [`bounded`](Self::bounded) for a call that itself calls other parts. `others` counts the milliseconds that those parts
    /// take in their polls; they are subtracted before the call is judged to block.
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
        let Some(clock) = &self.components.clock else {
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
            .hint("raise the limit in the recipe, or find out why the part hangs")),
        }
    }

    /// Measures each poll of a call, and notes a finding for a poll that blocks its thread.
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
            "await instead of blocking, or wrap the model that plays the roles in `agent::OnThread`"
        }
        "Performer::refresh_index" => {
            "await instead of blocking, or wrap the retriever in `agent::OnThread`"
        }
        "Executor::execute" => {
            "await instead of blocking, or wrap the model that the executor calls in `agent::OnThread`"
        }
        "SkillStore::commit" | "PromptFormat::skill_text" => {
            "await instead of blocking, or give the work to a thread of your own"
        }
        _ => "await instead of blocking, or wrap the part in `agent::OnThread`",
    };
    Finding::new(
        FindingKind::BlockingPart,
        format!("the time limits of {operation} are not enforced"),
        format!("{operation} blocked its thread for {took} ms; a limit takes effect only at await points"),
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
    .hint("the run continues without this answer; the part should return an error instead of panicking")
}

/// The message of a panic, shortened.
fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("the panic has no message");
    text.chars().take(MESSAGE_CHARS).collect()
}

/// An episode whose panics become errors, and whose blocking steps are reported for the episode and not for the executor
/// that calls it.
#[derive(Debug)]
pub(crate) struct Contained<'a> {
    episode: &'a mut dyn Episode,
    performer: &'a Performer,
    /// Milliseconds that the episode's steps spent in polls.
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
        // The signature has no error, so the panic continues, with the operation's name added to its message.
        let clock = self.performer.components.clock.as_ref();
        let before = clock.map(|clock| clock.now().0);
        let observed = catch_unwind(AssertUnwindSafe(|| self.episode.observation()));
        if let (Some(clock), Some(before)) = (clock, before) {
            let took = clock.now().0.saturating_sub(before);
            self.took.fetch_add(took, Ordering::Relaxed);
            if took >= milliseconds(BLOCKS_FROM) {
                let found = blocks("Episode::observation", took);
                self.performer.observed.note(found);
            }
        }
        observed.unwrap_or_else(|payload| {
            let message = panic_message(&*payload);
            resume_unwind(Box::new(format!("in Episode::observation: {message}")))
        })
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        const STEP: &str = "Episode::step";
        let redactor = &self.performer.redacting.redactor;
        let called = ToolCalls::new(action, redactor, self.performer.texts());
        let span = called
            .as_ref()
            .map_or_else(Span::none, |called| called.span.clone());
        let episode = &mut *self.episode;
        let stepping = AssertUnwindSafe(async { episode.step(action).await }).catch_unwind();
        let stepping = stepping.instrument(span);
        let stepped = match &self.performer.components.clock {
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
        let stepped = stepped.unwrap_or_else(|payload| Err(panicked(STEP, &*payload)));
        if let Some(called) = called {
            called.answered(&stepped, self.performer.texts());
        }
        stepped
    }

    async fn close(self: Box<Self>) -> Result<()> {
        // Nothing to do: the driver owns the inner episode and closes it.
        Ok(())
    }
}

// Rejects answers with values that are not finite or out of range. JSON cannot represent NaN and infinities, so such a
// value would make the run's journal unreadable.

fn refuse<T>(operation: &'static str, what: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Invalid, operation, what)
        .hint("the trait's documentation lists the rules for this value"))
}

pub(crate) fn sound_candidates(found: Vec<Candidate>) -> Result<Vec<Candidate>> {
    if found.iter().all(|candidate| candidate.score.is_finite()) {
        return Ok(found);
    }
    refuse("Retriever::search", "a candidate's score is not finite")
}

pub(crate) fn sound_scores(scores: Vec<SkillScores>) -> Result<Vec<SkillScores>> {
    let finite = |total: &Total| total.sum.is_finite();
    let sound = |score: &SkillScores| {
        let of_text = [&score.conditional, &score.unconditional];
        let of_fit = score.fit.iter().flat_map(|fit| [&fit.fits, &fit.does_not]);
        of_text.into_iter().flatten().chain(of_fit).all(finite)
    };
    if scores.iter().all(sound) {
        return Ok(scores);
    }
    refuse("Scorer::score", "a log-probability is not finite")
}

pub(crate) fn sound_trajectory(trajectory: Box<Trajectory>) -> Result<Box<Trajectory>> {
    let outcome = trajectory.outcome.as_ref();
    let outcome_sound = outcome.is_none_or(|outcome| {
        outcome.score.is_finite() && outcome.parts.values().all(|part| part.is_finite())
    });
    if !outcome_sound {
        return refuse(
            "Episode::step",
            "the outcome's score or one of its parts is not finite",
        );
    }
    let unread = trajectory.unread.iter().flat_map(|turn| &turn.generations);
    let records = trajectory.steps.iter().flat_map(|step| &step.generations);
    let mut records = records.chain(unread);
    if records.all(|record| record.logprobs.iter().all(|logprob| logprob.is_finite())) {
        return Ok(trajectory);
    }
    refuse(
        "Executor::execute",
        "a recorded log-probability is not finite",
    )
}

pub(crate) fn sound_gain(gain: Option<InformationGain>) -> Result<Option<InformationGain>> {
    if gain.as_ref().is_none_or(|gain| gain.nats.is_finite()) {
        return Ok(gain);
    }
    refuse("Scorer::score", "a log-probability is not finite")
}
