//! SCRIBE, SkillOS and SkillRL on a model, and all recipes beside each other with the same number of model tokens.

mod arms;
mod forks;
mod grouped;
mod growth;
mod judged;
mod meter;
mod published;
mod reasons;
mod router;
pub mod rule_agent;
mod scribe;
mod skillos;
mod skillrl;
mod structure;
pub mod subgoals;
mod together;
mod world;

use std::{env, path::PathBuf};

use journeyman::contract::LanguageModel;
use quickstart::Parts;

use crate::{
    figures::{Bound, Figures, Outcome, stats},
    library::told,
};

/// The environment's step budget.
const STEPS: usize = 8;

/// Worlds behind each figure.
const WORLDS: u64 = 5;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    // First, so that the growth of the process is not hidden by memory that other figures have freed.
    forks::run(figures, &parts)?;
    scribe::run(figures, &parts)?;
    structure::run(figures, &parts)?;
    skillos::run(figures, &parts)?;
    skillrl::run(figures, &parts)?;
    published::run(figures, &parts)?;
    together::run(figures, &parts)?;
    let root = PathBuf::from(env::var_os("JOURNEYMAN_ROOT").unwrap_or_else(|| ".".into()));
    let seed = figures.options().seed.0.to_string();
    let cargo = ["bench", "-q", "--profile", "dev", "-p", "journeyman"];
    let bench = ["--bench", "clusters", "--", "--seed", &seed];
    let command = told::command(&root, "cargo", &[&cargo[..], &bench].concat());
    told::run(figures, "clusters", command)
}

/// SkillOS in groups of tasks.
pub fn run_groups(figures: &mut Figures<'_>) -> Outcome {
    grouped::run(figures)
}

/// Why SCRIBE's routes differ from later clusters, and where cuts differ from the world's.
pub fn run_reasons(figures: &mut Figures<'_>) -> Outcome {
    reasons::run(figures)
}

/// The growth of SkillRL's bank.
pub fn run_growth(figures: &mut Figures<'_>) -> Outcome {
    growth::run(figures)
}

/// The bank of the published memories.
pub fn run_published(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    published::run(figures, &parts)
}

/// A result belongs to the model that it was measured on.
fn key(parts: &Parts, what: &str) -> String {
    format!("papers, {what}, {}", parts.model.capabilities().model)
}

/// Records the mean of values over worlds, and their standard deviation.
fn spread(figures: &mut Figures<'_>, name: &str, values: &[f64]) {
    bounded(figures, name, values, Bound::None);
}

/// The same, with a bound of the mean.
fn bounded(figures: &mut Figures<'_>, name: &str, values: &[f64], bound: Bound) {
    figures.record(name, stats::mean(values), bound);
    let deviation = stats::sample_sd(values);
    figures.record(&format!("{name}, sd"), deviation, Bound::None);
}

/// Records the mean difference of two lists over the same worlds, with its interval.
fn difference(
    figures: &mut Figures<'_>,
    name: &str,
    (one, other): (&[f64], &[f64]),
    (low, high): (Bound, Bound),
) {
    let pairs = one.iter().zip(other);
    let differences: Vec<f64> = pairs.map(|(one, other)| one - other).collect();
    figures.interval(name, &stats::t_interval(&differences), low, high);
}
