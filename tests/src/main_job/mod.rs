//! The figures of the main job: an agent that learns skills on real local inference.

mod arms;
pub(crate) mod library;
mod runtime;
mod scoring;

use journeyman::contract::LanguageModel;
use quickstart::Parts;

use crate::figures::{Figures, Outcome};

/// The quickstart's step budget.
const STEPS: usize = 8;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    arms::run(figures, &parts)?;
    runtime::run(figures, &parts)?;
    scoring::run(figures, &parts)
}

/// The key under which a result of this model is saved: another model's is never gone on with.
fn key(parts: &Parts, what: &str) -> String {
    format!("{what}, {}", parts.model.capabilities().model)
}
