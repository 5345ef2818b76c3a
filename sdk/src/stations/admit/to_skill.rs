//! From a draft to a skill: name, provenance, quarantine.

use super::insert_ready;
use crate::{
    domain::{Provenance, Skill, SkillDraft, SkillRef, State, Taint},
    error::Result,
    id::{SkillId, Version},
};

/// The fields of a skill that its draft does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Admittance {
    /// The skill's id.
    pub id: SkillId,
    /// Its version.
    pub version: Version,
    /// Where it came from.
    pub provenance: Provenance,
    /// Whether untrusted text went into the draft; the skill then starts quarantined.
    pub taint: Taint,
    /// The versions that it was made from.
    pub parents: Vec<SkillRef>,
}

/// Makes a skill of a draft, active, or quarantined if it is tainted (row J7). Its name is the valid name nearest to the
/// title; a title that is not a valid name is kept as the original name.
///
/// # Errors
/// `Model` for a draft that is not [`insert_ready`].
///
/// ```
/// use journeyman::{
///     Version,
///     stations::admit::{Admittance, to_skill},
///     domain::{Origin, Provenance, SkillDraft, State, Taint},
/// };
///
/// let draft = SkillDraft::new("Open the jar", "How to open a sealed jar.", "Warm the lid first.");
/// let skill = to_skill(&draft, Admittance {
///     id: "sk-1".into(),
///     version: Version(1),
///     provenance: Provenance { origin: Origin::Extracted, runs: vec![], tasks: vec!["jar".into()] },
///     taint: Taint::Tainted,
///     parents: Vec::new(),
/// })?;
/// assert_eq!((skill.name.as_str(), skill.state), ("open-the-jar", State::Quarantined));
/// # Ok::<(), journeyman::Error>(())
/// ```
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
    })
}
