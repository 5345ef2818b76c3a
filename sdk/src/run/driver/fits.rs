//! The thresholds that a session has fitted, and which libraries a trained model knows.

use futures::lock::{Mutex, MutexGuard};

use crate::{
    domain::{DecidedOn, FittedThreshold, SkillRef},
    id::ModelId,
};

/// What was found of models so far.
#[derive(Debug, Default)]
pub(crate) struct Fits(Mutex<Found>);

/// What a session found of the models that score.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) thresholds: Vec<Fit>,
    pub(super) known: Option<Known>,
}

impl Fits {
    /// While one fit is made, others wait: they may want the same.
    pub(super) async fn lock(&self) -> MutexGuard<'_, Found> {
        self.0.lock().await
    }
}

/// A threshold that was fitted.
#[derive(Debug)]
pub(super) struct Fit {
    /// The weights, the bits of the share of wrong injections, and what decisions are about.
    pub(super) of: (ModelId, u64, DecidedOn),
    /// Number of skills that were offered.
    pub(super) offered: usize,
    pub(super) fitted: FittedThreshold,
}

/// Whether a model that was trained to score knows the library's skills.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) weights: ModelId,
    /// Number of skills that were offered.
    pub(super) offered: usize,
    /// The skills that it was asked about.
    pub(super) asked: Vec<SkillRef>,
    pub(super) is_known: bool,
}
