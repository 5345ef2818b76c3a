//! A skill as it stands in a prompt.

use crate::{
    contract::Dialect,
    domain::{InjectedSkill, Skill},
    error::{Error, ErrorKind, Result},
};

/// Writes a skill for injection, in the model's dialect, or its body where there is none. The content is checked
/// against the hash that the library has for it.
///
/// # Errors
/// `Corrupt` when the content is not the one with this SHA-256.
pub fn render(
    skill: &Skill,
    dialect: Option<&dyn Dialect>,
    expected_sha256: &str,
) -> Result<InjectedSkill> {
    let sha256 = skill.content_sha256();
    if sha256 != expected_sha256 {
        return Err(Error::new(
            ErrorKind::Corrupt,
            "inject::render",
            "the skill's content is not the one that the library has",
        )
        .with("skill", &skill.id)
        .with("version", skill.version)
        .hint("restore the version from the library's history"));
    }
    Ok(InjectedSkill {
        skill: skill.reference(),
        text: dialect.map_or_else(|| skill.body.clone(), |dialect| dialect.skill_text(skill)),
        sha256,
    })
}
