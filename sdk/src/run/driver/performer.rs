//! A host's parts, and what is remembered of their answers. The methods that perform needs stand in the other files.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{embedded::Embedded, redacting::Redacting};
use crate::{
    contract::{Backends, Total},
    domain::Task,
    error::Result,
    id::{ModelId, RunId},
    library::SkillLibrary,
    recipe::Limits,
    report::Observed,
    text::Redactor,
};

/// log p(skill) behind an empty query, by model and content: the part of PMI that does not depend on the task.
#[derive(Debug, Default)]
pub(crate) struct Unconditional(Mutex<HashMap<(ModelId, String), Total>>);

impl Unconditional {
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<(ModelId, String), Total>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Performs needs with a host's parts. [`Journeyman`](crate::run::Journeyman) has one; a host that drives a
/// [`RunMachine`](crate::run::RunMachine) itself makes its own.
#[derive(Clone, Debug)]
pub struct Performer {
    pub(crate) backends: Arc<Backends>,
    pub(crate) limits: Limits,
    pub(crate) unconditional: Arc<Unconditional>,
    pub(crate) embedded: Arc<Embedded>,
    /// The library as this performer last saw it in the store.
    pub(crate) followed: Arc<Mutex<SkillLibrary>>,
    pub(crate) redacting: Arc<Redacting>,
    /// What was noticed about the host's parts while they worked.
    pub(crate) observed: Arc<Observed>,
}

impl Performer {
    /// A performer with these parts.
    pub fn new(backends: Arc<Backends>, limits: Limits) -> Self {
        Self {
            backends,
            limits,
            unconditional: Arc::default(),
            embedded: Arc::default(),
            followed: Arc::default(),
            redacting: Arc::default(),
            observed: Arc::default(),
        }
    }

    /// The same, with a library of the store to go on from.
    #[must_use]
    pub fn following(self, library: SkillLibrary) -> Self {
        *self.follow() = library;
        self
    }

    /// The same with another redactor; without one, the known forms of secrets are redacted.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Self {
        self.redacting = Arc::new(Redacting::new(redactor));
        self
    }

    /// The task without its secrets, as a machine and a journal may see it. A task that has secrets stays with this performer
    /// as it is, for the run's attempts, until [`forget`](Self::forget).
    ///
    /// # Errors
    /// `Invalid` where the run's id, the task's id or its category holds a secret.
    pub fn withhold(&self, run: &RunId, task: Task) -> Result<Task> {
        self.redacting.withhold(run, task)
    }

    /// Forgets the tasks of a run that is through.
    pub fn forget(&self, run: &RunId) {
        self.redacting.forget(run);
    }
}
