//! The skills of roles that Journeyman ships.

use super::template::Purpose;
use crate::{
    domain::Role,
    error::{Error, ErrorKind, Result},
    format::SkillMd,
};

/// All of them, in the order of [`Role::ALL`], and behind them the one that refines all of a skill.
///
/// # Errors
/// Only in a broken build, since the skills are compiled in.
pub(super) fn shipped_skills() -> Result<Vec<SkillMd>> {
    let purposes = Role::ALL.map(Purpose::Of).into_iter();
    let purposes = purposes.chain([Purpose::RefineWhole]);
    purposes.map(shipped_skill).collect()
}

fn shipped_skill(purpose: Purpose) -> Result<SkillMd> {
    let name = purpose.skill_name();
    let skill = journeyman_skills::find(&name).ok_or_else(|| {
        let message = "the role's skill is not shipped";
        Error::new(ErrorKind::NotFound, "GeneralRoles::shipped", message)
            .with("skill", &name)
            .hint("build with the version of journeyman-skills that belongs to this one")
    })?;
    SkillMd::read_strict(skill.text, Some(&name))
}
