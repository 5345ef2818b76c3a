//! An attempt's skills, as they stand in its prompt.

use super::AttemptNeed;
use crate::{
    contract::{Backends, Tokenizer},
    domain::{Injection, LeftOut},
    error::{Error, Result},
    inject,
};

/// Writes an attempt's skills into an injection, those that fit. The library here is a fold in memory and keeps no hash
/// beside the content, so the hash is taken from the skill itself; the check bites once a store hands over the one that
/// it recorded.
pub(super) fn inject_all(
    backends: &Backends,
    need: &AttemptNeed,
) -> Result<(Injection, Vec<LeftOut>)> {
    let dialect = backends.dialect.as_deref();
    let skills = (need.skills.iter())
        .map(|skill| inject::render(skill, dialect, &skill.content_sha256()))
        .collect::<Result<_>>()?;
    let injection = Injection { skills };
    match need.skill_tokens {
        None => Ok((injection, Vec::new())),
        Some(most) => Ok(inject::fit(injection, counting(backends)?, most)),
    }
}

/// What counts tokens where a recipe sets a budget.
///
/// # Errors
/// `Invalid` where the host gave nothing.
pub(super) fn counting(backends: &Backends) -> Result<&dyn Tokenizer> {
    backends.tokenizer.as_deref().ok_or_else(|| {
        Error::invalid(
            "Journeyman::open",
            "the recipe bounds tokens and nothing counts them",
        )
        .with("field", "skill_tokens")
        .hint("set `Backends::tokenizer`, or set no bound")
    })
}
