//! Builds the injection of an attempt from the selected skills, and completes the exposures that the executor reports.

use crate::{
    contract::{Components, Tokenizer},
    domain::{Exposure, Injection, LeftOut, Trajectory},
    error::{Error, Result},
    inject,
    policy::ChosenSkill,
    run::machine::effect::AttemptEffect,
};

/// The injection of an attempt's skills, and the skills left out because they exceed the token budget.
///
/// # Errors
/// `Corrupt` where a skill's content does not have the hash that the library recorded.
pub(crate) fn inject_all(
    components: &Components,
    effect: &AttemptEffect,
) -> Result<(Injection, Vec<LeftOut>)> {
    inject_chosen(components, &effect.skills, effect.skill_tokens)
}

/// The injection of these skills, and the skills left out because they exceed `skill_tokens`.
///
/// # Errors
/// `Corrupt` where a skill's content does not have the hash that the library recorded.
pub(crate) fn inject_chosen(
    components: &Components,
    skills: &[ChosenSkill],
    skill_tokens: Option<usize>,
) -> Result<(Injection, Vec<LeftOut>)> {
    let prompt_format = components.prompt_format.as_deref();
    let skills = (skills.iter())
        .map(|chosen| inject::render(&chosen.skill, prompt_format, &chosen.sha256))
        .collect::<Result<_>>()?;
    let injection = Injection { skills };
    match skill_tokens {
        None => Ok((injection, Vec::new())),
        Some(most) => Ok(inject::fit(injection, counting(components)?, most)),
    }
}

/// The tokenizer that counts the tokens of skills, for a recipe with a token budget.
///
/// # Errors
/// `Invalid` where the host gave no tokenizer.
pub(crate) fn counting(components: &Components) -> Result<&dyn Tokenizer> {
    components.tokenizer.as_deref().ok_or_else(|| {
        Error::invalid(
            "Journeyman::open",
            "the recipe limits the tokens of skills, and the host gave no tokenizer",
        )
        .with("field", "skill_tokens")
        .hint("set `Components::tokenizer`, or remove the limit from the recipe")
    })
}

/// Adds an exposure for each injected skill that the executor did not report, with the use that was reported through the
/// guidance. Where both say something, the greatest counts.
pub(crate) fn complete_exposures(trajectory: &mut Trajectory, given: Vec<Exposure>) {
    for exposure in given {
        let mut known = trajectory.exposures.iter_mut();
        match known.find(|known| known.skill == exposure.skill) {
            Some(known) => {
                known.used = known.used.max(exposure.used);
                known.since = exposure.since;
            }
            None => trajectory.exposures.push(exposure),
        }
    }
}
