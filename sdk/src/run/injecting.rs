//! Skills into an attempt's prompt, and what became of them.

use crate::{
    contract::Dialect,
    domain::{Exposure, Injection, Skill, SkillRef, Trajectory},
    error::Result,
    inject,
};

/// Writes skills into an injection. The library here is a fold in memory and keeps no hash beside the content, so the
/// hash is taken from the skill itself; the check bites once a store hands over the one that it recorded.
pub(super) fn inject_all(dialect: Option<&dyn Dialect>, skills: &[Skill]) -> Result<Injection> {
    let skills = skills
        .iter()
        .map(|skill| inject::render(skill, dialect, &skill.content_sha256()))
        .collect::<Result<_>>()?;
    Ok(Injection { skills })
}

/// Makes sure that every injected skill is an exposure, whatever the executor reported.
pub(super) fn complete_exposures(
    trajectory: &mut Trajectory,
    injection: &Injection,
    reported: &[SkillRef],
) {
    for injected in &injection.skills {
        let used = reported.contains(&injected.skill);
        match trajectory
            .exposures
            .iter_mut()
            .find(|e| e.skill == injected.skill)
        {
            Some(exposure) => exposure.used |= used,
            None => trajectory.exposures.push(Exposure {
                skill: injected.skill.clone(),
                used,
            }),
        }
    }
}
