//! The skills of roles that Journeyman ships.

use super::template::Purpose;
use crate::{domain::Role, error::Result, format::SkillMd};

/// The skills of the roles, in the order of [`Role::ALL`].
const ROLES: [&str; 16] = [
    include_str!("../../../skills/role-summarize/SKILL.md"),
    include_str!("../../../skills/role-extract/SKILL.md"),
    include_str!("../../../skills/role-refactor/SKILL.md"),
    include_str!("../../../skills/role-refine/SKILL.md"),
    include_str!("../../../skills/role-attribute/SKILL.md"),
    include_str!("../../../skills/role-bundle/SKILL.md"),
    include_str!("../../../skills/role-evolve/SKILL.md"),
    include_str!("../../../skills/role-segment/SKILL.md"),
    include_str!("../../../skills/role-distil-prototype/SKILL.md"),
    include_str!("../../../skills/role-route/SKILL.md"),
    include_str!("../../../skills/role-score/SKILL.md"),
    include_str!("../../../skills/role-curate/SKILL.md"),
    include_str!("../../../skills/role-tag/SKILL.md"),
    include_str!("../../../skills/role-lesson/SKILL.md"),
    include_str!("../../../skills/role-distil-bank/SKILL.md"),
    include_str!("../../../skills/role-review/SKILL.md"),
];
/// The skill that refines all of a skill.
const REFINE_WHOLE: &str = include_str!("../../../skills/role-refine-whole/SKILL.md");

/// All of them.
///
/// # Errors
/// Only in a broken build, since the skills are compiled in.
pub(super) fn shipped_skills() -> Result<Vec<SkillMd>> {
    let texts = ROLES.into_iter().zip(Role::ALL.map(Purpose::Of));
    let texts = texts.chain([(REFINE_WHOLE, Purpose::RefineWhole)]);
    texts
        .map(|(text, purpose)| SkillMd::read_strict(text, Some(&purpose.skill_name())))
        .collect()
}
