//! The skills that a client says it followed.

use journeyman::{Error, Result, domain::SkillRef, library::SkillLibrary};
use rmcp::model::SKILL_MD;

use super::catalog;

/// Refuses a report that names skills which the attempt was not given: the one that was meant would count as not followed.
pub(super) fn refuse_others(
    followed: &[String],
    given: &[SkillRef],
    library: &SkillLibrary,
) -> Result<()> {
    let is_other = |said: &&String| !given.iter().any(|skill| names(said, skill, library));
    if followed.iter().find(is_other).is_none() {
        return Ok(());
    }
    let given: Vec<String> = given.iter().filter_map(|one| uri(library, one)).collect();
    let given = match given.is_empty() {
        true => "it gave none, so leave `followed` empty".to_owned(),
        false => format!("it gave {}", given.join(", ")),
    };
    Err(Error::invalid(
        "report_outcome",
        "`followed` names a skill that search_skills did not give for this attempt",
    )
    .hint(format!("{given}; the attempt is still open")))
}

/// Whether a client means this skill: by its URI, or by its name alone.
pub(super) fn names(said: &str, skill: &SkillRef, library: &SkillLibrary) -> bool {
    let skill = library.version(skill);
    skill.is_some_and(|skill| skill.name.as_str() == said || catalog::uri(skill, SKILL_MD) == said)
}

/// The URI of a skill's SKILL.md; `None` where the library no longer has this version.
pub(super) fn uri(library: &SkillLibrary, skill: &SkillRef) -> Option<String> {
    let skill = library.version(skill)?;
    Some(catalog::uri(skill, SKILL_MD))
}
