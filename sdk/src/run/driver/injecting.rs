//! Skills into an attempt's prompt, and what became of them.

use crate::{
    contract::{Backends, Tokenizer},
    domain::{Exposure, Injection, LeftOut, Trajectory},
    error::{Error, Result},
    inject,
    policy::ChosenSkill,
    run::machine::need::AttemptNeed,
};

/// Writes an attempt's skills into an injection, those that fit.
///
/// # Errors
/// `Corrupt` where a skill is not what the library recorded.
pub(crate) fn inject_all(
    backends: &Backends,
    need: &AttemptNeed,
) -> Result<(Injection, Vec<LeftOut>)> {
    inject_chosen(backends, &need.skills, need.skill_tokens)
}

/// Writes skills into an injection, those that fit into so many tokens.
///
/// # Errors
/// `Corrupt` where a skill is not what the library recorded.
pub(crate) fn inject_chosen(
    backends: &Backends,
    skills: &[ChosenSkill],
    skill_tokens: Option<usize>,
) -> Result<(Injection, Vec<LeftOut>)> {
    let dialect = backends.dialect.as_deref();
    let skills = (skills.iter())
        .map(|chosen| inject::render(&chosen.skill, dialect, &chosen.sha256))
        .collect::<Result<_>>()?;
    let injection = Injection { skills };
    match skill_tokens {
        None => Ok((injection, Vec::new())),
        Some(most) => Ok(inject::fit(injection, counting(backends)?, most)),
    }
}

/// What counts tokens where a recipe sets a budget.
///
/// # Errors
/// `Invalid` where the host gave nothing.
pub(crate) fn counting(backends: &Backends) -> Result<&dyn Tokenizer> {
    backends.tokenizer.as_deref().ok_or_else(|| {
        Error::invalid(
            "Journeyman::open",
            "the recipe bounds tokens and nothing counts them",
        )
        .with("field", "skill_tokens")
        .hint("set `Backends::tokenizer`, or set no bound")
    })
}

/// Makes sure that every skill that the attempt was given is an exposure, whatever the executor reported.
pub(crate) fn complete_exposures(trajectory: &mut Trajectory, given: Vec<Exposure>) {
    for exposure in given {
        let mut known = trajectory.exposures.iter_mut();
        match known.find(|known| known.skill == exposure.skill) {
            Some(known) => {
                known.used |= exposure.used;
                known.since = exposure.since;
            }
            None => trajectory.exposures.push(exposure),
        }
    }
}
