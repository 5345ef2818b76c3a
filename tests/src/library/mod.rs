//! The library on disk: what it loses, what it lets in, what it gives back, what it costs.

mod banks;
mod redaction;
mod safety;
pub(crate) mod told;

use crate::{
    figures::{Figures, Outcome},
    source::repository,
};

/// Measures and records what is taken for a secret, and nothing else of the group.
pub fn run_redaction(figures: &mut Figures<'_>) -> Outcome {
    redaction::run(figures, &repository())
}

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let root = repository();
    let seed = figures.options().seed;
    safety::run(figures, &root)?;
    redaction::run(figures, &root)?;
    banks::run(figures)?;
    let bench = |package: &str, bench: &str| {
        let arguments = ["bench", "-q", "-p", package, "--bench", bench];
        told::command("cargo", &arguments)
    };
    told::run(
        figures,
        "opening and forking",
        bench("journeyman-disk", "library"),
    )?;
    told::run(
        figures,
        "retrieving",
        bench("journeyman-tantivy", "retrieval"),
    )?;
    let faults = ["tests/faults/run.sh", "--full", "--seed", &seed.to_string()];
    let faults = told::command("bash", &faults);
    told::run(figures, "faults", faults)
}
