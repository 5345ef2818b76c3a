//! A host's parts, and what is remembered of their answers. The methods that perform needs stand in the other files.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{embedded::Embedded, redacting::Redacting};
use crate::{
    contract::{Backends, Total},
    id::ModelId,
    library::SkillLibrary,
    recipe::Limits,
    report::Observed,
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
}
