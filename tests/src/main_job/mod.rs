//! The figures of the main job: an agent that learns skills on real local inference.

mod arms;
pub(crate) mod library;
mod runtime;
mod scoring;

use crate::figures::{Figures, Outcome, key};

/// The quickstart's step budget.
const STEPS: usize = 8;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    arms::run(figures, &parts)?;
    runtime::run(figures, &parts)?;
    scoring::run(figures, &parts)
}
