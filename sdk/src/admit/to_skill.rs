//! From a draft to a skill: names, lengths, quarantine.

use crate::{
    domain::{Provenance, Skill, SkillDraft, SkillName, SkillRef, State, Taint},
    error::{Error, Result},
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

/// The greatest length of a description, in characters (Agent Skills specification).
const DESCRIPTION: usize = 1024;

/// Makes a skill of a draft. Its name is the title's nearest valid one; a title that is no valid name is kept as
/// the original name.
///
/// # Errors
/// `Invalid` for a title without letters or digits, an empty or over-long description, an empty body.
pub fn to_skill(draft: &SkillDraft, admittance: Admittance) -> Result<Skill> {
    let refuse = |message: &str| Err(Error::invalid("admit::to_skill", message));
    let Some(name) = SkillName::slug(&draft.title) else {
        return refuse("the title has no letter or digit to make a name of");
    };
    if draft.description.trim().is_empty() {
        return refuse("the description is empty");
    }
    if draft.description.chars().count() > DESCRIPTION {
        return refuse("the description is longer than 1,024 characters");
    }
    if draft.body.trim().is_empty() {
        return refuse("the body is empty");
    }
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
        parents: admittance.parents,
        provenance: admittance.provenance,
        taint: admittance.taint,
        proven_on: None,
    })
}
