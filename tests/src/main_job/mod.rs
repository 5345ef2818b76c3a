//! The figures of the main job: an agent that learns skills on real local inference.

mod arms;
pub(crate) mod library;
mod model;
mod runtime;
mod scoring;

use journeyman::contract::LanguageModel;
use quickstart::{Parts, Way};

use crate::figures::{Figures, Outcome};

pub(crate) use arms::quickstart;

/// The quickstart's step budget.
const STEPS: usize = 8;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    arms::run(figures, &parts)?;
    runtime::run(figures, &parts)?;
    if parts.way == Way::Chat {
        let elsewhere = "a model by chat is looked at by itself in the group `general`";
        figures.skip("model", elsewhere);
        figures.skip("scoring", elsewhere);
        return Ok(());
    }
    model::run(figures, &parts)?;
    scoring::run(figures, &parts)
}

/// The key under which a result of this model is saved: another model's is never gone on with.
fn key(parts: &Parts, what: &str) -> String {
    format!("{what}, {}", parts.model.capabilities().model)
}
