//! The figures of the main job: an agent that learns skills on real local inference.

mod arms;
mod library;
mod model;
mod runtime;
mod scoring;

use std::path::Path;

use quickstart::{DEFAULT_MODEL, Parts};

use crate::figures::{Figures, Outcome};

/// The quickstart's step budget.
const STEPS: usize = 8;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = Parts::load(Path::new(DEFAULT_MODEL), STEPS)?;
    arms::run(figures, &parts)?;
    model::run(figures, &parts)?;
    runtime::run(figures, &parts)?;
    scoring::run(figures, &parts)
}
