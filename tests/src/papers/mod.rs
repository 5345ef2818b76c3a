//! SCRIBE, SkillOS and SkillRL on a model, and all recipes beside each other with the same number of model tokens.

mod arms;
mod differences;
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

use quickstart::Parts;

use crate::{
    figures::{self, Figures, Outcome, bounded, difference, recalling, spread},
    library::told,
};

/// The environment's step budget.
const STEPS: usize = 8;

/// Worlds behind each figure of SkillOS and SkillRL.
const WORLDS: u64 = 5;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    // First, so that the growth of the process is not hidden by memory that other figures have freed, and with a model that keeps
    // no answers.
    forks::run(figures, &parts)?;
    // These two ask the same of the same worlds, and those after them of others.
    let of_scribe = recalling(&parts)?;
    scribe::run(figures, &of_scribe)?;
    structure::run(figures, &of_scribe)?;
    drop(of_scribe);
    let parts = recalling(&parts)?;
    skillos::run(figures, &parts)?;
    skillrl::run(figures, &parts)?;
    published::run(figures, &parts)?;
    together::run(figures, &parts)?;
    let seed = figures.options().seed.0.to_string();
    let cargo = ["bench", "-q", "--profile", "dev", "-p", "journeyman"];
    let bench = ["--bench", "clusters", "--", "--seed", &seed];
    let command = told::command("cargo", &[&cargo[..], &bench].concat());
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

fn key(parts: &Parts, what: &str) -> String {
    figures::key(parts, &format!("papers, {what}"))
}
