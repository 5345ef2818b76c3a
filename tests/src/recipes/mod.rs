//! The recipes of the papers on the bundled model: ARISE with its sweeps, HiSME with its ablations, over several worlds a seed.

pub(crate) mod arise;
mod departures;
mod frozen_rules;
mod harm;
mod hisme;
mod judged;
mod meaning;
pub(crate) mod noisy;
mod poisoned;
mod sweeps;
mod unresettable;

use journeyman::recipe::Recipe;
use quickstart::Parts;

use crate::{
    figures::{Figures, Outcome, key, recalling, spread},
    library::told,
};

/// The environment's step budget.
const STEPS: usize = 8;

/// What an arm changes of a recipe.
type Change = fn(&mut Recipe);

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    arise::run(figures, &recalling(&parts)?)?;
    hisme_on(figures, &parts)?;
    let seed = figures.options().seed.0.to_string();
    for (what, package, bench, arguments) in [
        (
            "the overlap graph",
            "journeyman",
            "overlap",
            &["--seed", &seed][..],
        ),
        ("own time per episode", "journeyman-disk", "episode", &[]),
    ] {
        let cargo = [
            "bench",
            "-q",
            "--profile",
            "dev",
            "-p",
            package,
            "--bench",
            bench,
            "--",
        ];
        let command = told::command("cargo", &[&cargo[..], arguments].concat());
        told::run(figures, what, command)?;
    }
    Ok(())
}

/// Measures and records the half of [`run`] that is about HiSME.
pub fn run_hisme(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    hisme_on(figures, &parts)
}

/// Measures and records by what held-out tasks are harmed under HiSME, from a poisoned start too.
pub fn run_hisme_harm(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    hisme::run_harm(figures, &recalling(&parts)?)?;
    poisoned::run(figures, &recalling(&parts)?)
}

/// HiSME's two parts, which ask in other worlds.
fn hisme_on(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    hisme::run(figures, &recalling(parts)?)?;
    poisoned::run(figures, &recalling(parts)?)
}

/// Measures and records ARISE's sweeps.
pub fn run_sweeps(figures: &mut Figures<'_>) -> Outcome {
    let parts = recalling(&figures.parts(STEPS)?)?;
    sweeps::run(figures, &parts)
}

/// Measures and records what each of our departures from HiSME brings.
pub fn run_departures(figures: &mut Figures<'_>) -> Outcome {
    let parts = recalling(&figures.parts(STEPS)?)?;
    departures::run(figures, &parts)
}

/// Measures and records what frozen rules do to what is written.
pub fn run_frozen_rules(figures: &mut Figures<'_>) -> Outcome {
    let parts = recalling(&figures.parts(STEPS)?)?;
    frozen_rules::run(figures, &parts)
}

/// Measures and records what HiSME and ARISE learn in worlds that cannot be set up again.
pub fn run_unresettable(figures: &mut Figures<'_>) -> Outcome {
    let parts = recalling(&figures.parts(STEPS)?)?;
    unresettable::run(figures, &parts)
}

/// Learning runs with a sentence encoder and without.
pub fn run_meaning(figures: &mut Figures<'_>) -> Outcome {
    meaning::run(figures)
}
