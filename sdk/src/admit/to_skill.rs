//! From a draft to a skill: names, lengths, quarantine.

use super::insert_ready;
use crate::{
    domain::{Provenance, Skill, SkillDraft, SkillRef, State, Taint},
    error::Result,
    id::{SkillId, Version},
};

/// What the library adds to a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct Admittance {
    /// The skill's id.
    pub id: SkillId,
    /// Its version.
    pub version: Version,
    /// Where it came from.
    pub provenance: Provenance,
    /// Whether untrusted text went into it: it then starts quarantined.
    pub taint: Taint,
    /// The versions it was made from.
    pub parents: Vec<SkillRef>,
}

/// Makes a skill of a draft. Its name is the title's nearest valid one; a title that is no valid name is kept as
/// the original name.
///
/// # Errors
/// `Model` for a draft that is not [`insert_ready`].
pub fn to_skill(draft: &SkillDraft, admittance: Admittance) -> Result<Skill> {
    let name = insert_ready(draft)?;
    Ok(Skill {
        id: admittance.id,
        version: admittance.version,
        original_name: (draft.title != name.as_str()).then(|| draft.title.clone()),
        name,
        description: draft.description.clone(),
        kind: draft.kind,
        scope: draft.scope.clone(),
        state: match admittance.taint {
            Taint::Clean => State::Active,
            Taint::Tainted => State::Quarantined,
        },
        trigger: draft.trigger.clone(),
        body: draft.body.clone(),
        allowed_tools: Vec::new(),
        license: None,
        compatibility: None,
        metadata: draft.metadata.clone(),
        files: std::collections::BTreeMap::new(),
        parents: admittance.parents,
        provenance: admittance.provenance,
        taint: admittance.taint,
        proven_on: None,
    })
}
