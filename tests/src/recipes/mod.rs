//! The recipes of the papers on the bundled model: HiSME with its ablations, over several worlds a seed.

mod hisme;
mod poisoned;

use std::{env, path::PathBuf};

use journeyman::contract::LanguageModel;
use quickstart::{Parts, default_model};

use crate::{
    figures::{Figures, Outcome},
    library::told,
};

/// The environment's step budget.
const STEPS: usize = 8;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = Parts::load(&default_model(), STEPS)?;
    figures.subject("model", parts.model.capabilities().model.as_str());
    hisme::run(figures, &parts)?;
    poisoned::run(figures, &parts)?;
    let root = PathBuf::from(env::var_os("JOURNEYMAN_ROOT").unwrap_or_else(|| ".".into()));
    let seed = figures.options().seed.0.to_string();
    let arguments = [
        "bench",
        "-q",
        "--profile",
        "dev",
        "-p",
        "journeyman",
        "--bench",
        "overlap",
        "--",
        "--seed",
        &seed,
    ];
    let bench = told::command(&root, "cargo", &arguments);
    told::run(figures, "the overlap graph", bench)
}
