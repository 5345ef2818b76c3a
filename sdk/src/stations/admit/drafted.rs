//! A role's draft with its sources, and the skill that it makes.

use super::{AdmitPolicy, Admittance, Terms, identity::Meanings, to_skill};
use crate::{
    domain::{Origin, Provenance, Role, Skill, SkillDraft, SkillRef, State, Taint},
    error::Result,
    id::{SkillId, TaskId, Version, sha256_hex},
    policy::{Context, Played},
};

/// A role's answer, and the sources of the draft in it.
#[derive(Clone, Debug)]
pub(crate) struct Drafted<'a> {
    /// Unique among the drafts of the run; the skill's id is derived from it.
    pub(crate) key: String,
    /// The role that wrote the draft.
    pub(crate) role: Role,
    /// The tasks that it was written from.
    pub(crate) tasks: Vec<TaskId>,
    /// Whether any of its sources is untrusted.
    pub(crate) taint: Taint,
    /// The versions that it was made from.
    pub(crate) parents: Vec<SkillRef>,
    /// The role's answer.
    pub(crate) reply: &'a Result<Option<Played>>,
    /// The terms of its attempts.
    pub(crate) terms: Terms,
    /// The embeddings that were asked for.
    pub(crate) meanings: &'a Meanings,
}

/// The skill that a draft makes, regardless of duplicates.
///
/// # Errors
/// `Model` for a draft that is not [`insert_ready`](super::insert_ready).
pub(crate) fn skill_of(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    drafted: &Drafted<'_>,
    draft: &SkillDraft,
    fallback: bool,
) -> Result<Skill> {
    let origin = match drafted.role {
        _ if fallback => Origin::TraceAbstract,
        Role::Extract => Origin::Extracted,
        Role::Refactor => Origin::Refactored,
        Role::Refine => Origin::Refined,
        Role::Lesson | Role::DistilBank => Origin::Distilled,
        Role::Curate => Origin::Curated,
        _ => Origin::Summary,
    };
    let provenance = Provenance {
        origin,
        runs: vec![context.run.clone()],
        tasks: drafted.tasks.clone(),
    };
    // Ids grow with time: of equal utilities the skill with the greater id, the later one, stays in its tier.
    let identity = sha256_hex(format!("{}/{}/{}", context.run, drafted.key, draft.title));
    let revision = context.library.revision();
    let admittance = Admittance {
        id: SkillId::new(format!("sk-{revision:08}-{}", &identity[..8])),
        version: Version(1),
        provenance,
        taint: drafted.taint,
        parents: drafted.parents.clone(),
    };
    let mut skill = to_skill(draft, admittance)?;
    if skill.state == State::Active {
        skill.state = match fallback {
            true => policy.fallback_state,
            false => policy.initial_state,
        };
    }
    Ok(skill)
}

pub(crate) fn has_same_content(known: &Skill, new: &Skill) -> bool {
    known.description == new.description && known.body == new.body
}

/// The next version of a known skill. The tools, license and compatibility, which only its owner can give, are kept.
pub(crate) fn revision_of(known: &Skill, new: Skill) -> Skill {
    Skill {
        id: known.id.clone(),
        version: known.version.next(),
        parents: vec![known.reference()],
        allowed_tools: known.allowed_tools.clone(),
        license: known.license.clone(),
        compatibility: known.compatibility.clone(),
        ..new
    }
}
