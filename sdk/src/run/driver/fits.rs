//! The thresholds that a session has fitted.

use futures::lock::{Mutex, MutexGuard};

use crate::{
    domain::{DecidedOn, FittedThreshold},
    id::ModelId,
};

/// The thresholds that were fitted so far.
#[derive(Debug, Default)]
pub(crate) struct Fits(Mutex<Vec<Fit>>);

impl Fits {
    /// While one fit is made, others wait: they may want the same.
    pub(super) async fn lock(&self) -> MutexGuard<'_, Vec<Fit>> {
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
