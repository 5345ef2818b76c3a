//! Skills that figures and tests begin with, and their index.

use journeyman::{
    Result, SkillId, Version,
    domain::{IndexUpdate, Origin, Provenance, Revision, Skill, SkillDraft, Taint},
    stations::admit::{Admittance, to_skill},
};

/// A draft as a skill that no run wrote, in its first version.
///
/// # Errors
/// As [`to_skill`].
pub fn admitted(draft: &SkillDraft, id: impl Into<SkillId>, origin: Origin) -> Result<Skill> {
    let admittance = Admittance {
        id: id.into(),
        version: Version(1),
        provenance: Provenance {
            origin,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Clean,
        parents: Vec::new(),
    };
    to_skill(draft, admittance)
}

/// The update by which an empty index takes in a whole library.
pub(crate) fn whole(skills: Vec<Skill>) -> IndexUpdate {
    IndexUpdate {
        library: None,
        since: Revision(0),
        revision: Revision(1),
        keys: Default::default(),
        changed: skills,
        gone: Vec::new(),
    }
}
