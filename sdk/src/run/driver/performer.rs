//! [`Performer`]: a host's parts, with caches of their answers. The methods that perform effects are in the other files of
//! this folder.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tracing::Span;

use crate::{
    contract::Components,
    domain::Task,
    error::Result,
    id::RunId,
    library::SkillLibrary,
    policy::Answer,
    run::{
        driver::{
            deciding::Deciding, embedding_cache::EmbeddingCache, fits::Fits,
            known_scores::KnownScores, redaction::Redacting,
        },
        machine::effect::{CaseEffect, Effect},
        report::Observed,
    },
    stations::recipe::Limits,
    telemetry,
    text::Redactor,
};

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
    /// Whether spans have texts.
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

// The span of each effect, and what its answer adds to it.

/// The span of the work for an effect; that of a commit is made where the commit is.
pub(super) fn of(effect: &Effect) -> Span {
    match effect {
        Effect::Retrieve(query) => telemetry::retrieval(query.limit),
        Effect::Score { skills, .. } => telemetry::score(skills.len()),
        Effect::Threshold { .. } => telemetry::score(0),
        Effect::Attempt(effect) => {
            telemetry::agent(&effect.run, &effect.task.id, &effect.attempt, false)
        }
        Effect::Case(case) => {
            let CaseEffect { attempt, .. } = &**case;
            telemetry::agent(&attempt.run, &attempt.task.id, &attempt.attempt, true)
        }
        Effect::Role { ask, .. } => telemetry::role(ask.role()),
        Effect::Judge { .. } => telemetry::judgement(),
        Effect::Embed(_) => telemetry::embeddings(),
        Effect::Gain { .. } => telemetry::information_gain(),
        Effect::Commit(_) => Span::none(),
    }
}

/// Adds an answer, redacted, to the span of its effect.
pub(super) fn answered(span: &Span, answer: &Answer) {
    if let Some(counts) = answer.role_counts() {
        let reading = match (counts.unreadable, counts.repaired, counts.failed) {
            (0, 0, 0) => "read",
            (0, _, 0) => "repaired",
            (_, _, 0) => "unreadable",
            _ => "none",
        };
        telemetry::read(span, reading, answer.whole_prompt());
    }
    match answer {
        Answer::Attempted(made) => {
            telemetry::finished(span, made);
            if let Ok(trajectory) = made {
                telemetry::used(span, trajectory.usage);
                telemetry::compacted(span, trajectory.compaction);
                span.record("journeyman.steps", telemetry::int(trajectory.steps.len()));
                if let Some(fault) = trajectory.fault() {
                    telemetry::failed(span, fault);
                }
            }
        }
        Answer::Judged(judged) => {
            telemetry::finished(span, judged);
            if let Ok(verdict) = judged {
                telemetry::judged(span, verdict);
            }
        }
        Answer::Played(Ok(played)) => {
            if let Some(played) = played {
                telemetry::used(span, played.usage);
            }
        }
        Answer::Tried(Ok(tried)) => telemetry::used(span, tried.usage),
        Answer::Played(Err(failed)) | Answer::Tried(Err(failed)) => {
            telemetry::used(span, failed.usage);
            telemetry::failed(span, &failed.error);
        }
        Answer::Retrieved(done) => telemetry::finished(span, done),
        Answer::Scored(done) => telemetry::finished(span, done),
        Answer::Fitted(done) => telemetry::finished(span, done),
        Answer::Embedded(done) => telemetry::finished(span, done),
        Answer::Gained(done) => telemetry::finished(span, done),
        Answer::Committed(_) => {}
    }
}
