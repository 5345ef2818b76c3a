//! Skills that figures and tests begin with, and their index.

use journeyman::testing::Edited as _;
use journeyman::{
    Result, SkillId,
    domain::{IndexUpdate, Origin, Provenance, Revision, Skill, SkillDraft},
    stations::admit::{Admittance, to_skill},
};

/// A draft as a skill that no run wrote, in its first version.
///
/// # Errors
/// As [`to_skill`].
pub fn admitted(draft: &SkillDraft, id: impl Into<SkillId>, origin: Origin) -> Result<Skill> {
    let admittance = Admittance::new(id, Provenance::new(origin));
    to_skill(draft, admittance)
}

/// The update by which an empty index takes in a whole library.
pub(crate) fn whole(skills: Vec<Skill>) -> IndexUpdate {
    IndexUpdate::new(Revision(0), Revision(1)).edited(|it| it.changed = skills)
}
