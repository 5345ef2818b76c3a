//! From a draft to a skill: what the draft has to keep, its name, provenance and quarantine, and the next version of a known skill.

use std::collections::BTreeMap;

use crate::{
    domain::{Origin, Provenance, Role, Skill, SkillDraft, SkillName, SkillRef, State, Taint},
    error::Result,
    id::{SkillId, TaskId, Version, sha256_hex},
    library::format::{SchemaRefusal, SchemaStage, SkillMd},
    policy::Context,
    stations::admit::{AdmitPolicy, anchors::Terms, identity::Meanings},
};

/// Checks that a draft of any form can become a skill: its title gives a name, its description and body keep to the Agent
/// Skills specification, it has no hidden characters (S9), and its SKILL.md reads back as written.
///
/// # Errors
/// A refusal at [`SchemaStage::Insert`], naming the field.
pub fn insert_ready(draft: &SkillDraft) -> Result<SkillName, SchemaRefusal> {
    let refuse = |reason: String| SchemaRefusal::new(SchemaStage::Insert, reason);
    let name = SkillName::slug(&draft.title)
        .ok_or_else(|| refuse("the title has no letter or digit to make a name of".to_owned()))?;
    if draft.body.trim().is_empty() {
        return Err(refuse("the body is empty".to_owned()));
    }
    let mut metadata: BTreeMap<String, String> = draft.metadata.clone();
    // The file keeps them in its metadata, whose rules they must meet.
    metadata.insert("journeyman-original-name".to_owned(), draft.title.clone());
    if let Some(trigger) = &draft.trigger {
        metadata.insert("journeyman-trigger".to_owned(), trigger.clone());
    }
    let file = SkillMd {
        name,
        description: draft.description.clone(),
        license: None,
        compatibility: None,
        metadata,
        allowed_tools: Vec::new(),
        body: draft.body.clone(),
    };
    match file.write() {
        Ok(_) => Ok(file.name),
        Err(error) => Err(refuse(error.message().to_owned())),
    }
}

/// The fields of a skill that its draft does not have.
#[non_exhaustive]
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

impl Admittance {
    /// A first version of trusted text, made from no other skill.
    pub fn new(id: impl Into<SkillId>, provenance: Provenance) -> Self {
        Self {
            id: id.into(),
            version: Version(1),
            provenance,
            taint: Taint::Clean,
            parents: Vec::new(),
        }
    }

    /// The same with this taint.
    #[must_use]
    pub fn with_taint(mut self, taint: Taint) -> Self {
        self.taint = taint;
        self
    }
}

/// Makes a skill of a draft, active, or quarantined if it is tainted (row J7). Its name is the valid name nearest to the
/// title; a title that is not a valid name is kept as the original name.
///
/// # Errors
/// `Model` for a draft that is not [`insert_ready`].
///
/// ```
/// use journeyman::{
///     stations::admit::{Admittance, to_skill},
///     domain::{Origin, Provenance, SkillDraft, State, Taint},
/// };
///
/// let draft = SkillDraft::new("Open the jar", "How to open a sealed jar.", "Warm the lid first.");
/// let provenance = Provenance::new(Origin::Extracted).with_tasks(vec!["jar".into()]);
/// let skill = to_skill(&draft, Admittance::new("sk-1", provenance).with_taint(Taint::Tainted))?;
/// assert_eq!((skill.name.as_str(), skill.state), ("open-the-jar", State::Quarantined));
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn to_skill(draft: &SkillDraft, admittance: Admittance) -> Result<Skill> {
    let name = insert_ready(draft)?;
    let state = match admittance.taint {
        Taint::Clean => State::Active,
        Taint::Tainted => State::Quarantined,
    };
    Ok(Skill::of_draft(name, draft.clone())
        .with_id(admittance.id)
        .with_version(admittance.version)
        .with_state(state)
        .with_parents(admittance.parents)
        .with_provenance(admittance.provenance)
        .with_taint(admittance.taint))
}

/// Where a role's draft comes from, and what it is compared by.
#[derive(Clone, Debug)]
pub(crate) struct DraftSources<'a> {
    /// Unique among the drafts of the run; the skill's id is derived from it.
    pub(crate) key: String,
    pub(crate) role: Role,
    /// The tasks that it was written from.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) taint: Taint,
    /// The versions that it was made from.
    pub(crate) parents: Vec<SkillRef>,
    pub(crate) terms: Terms,
    /// The embeddings that were asked for.
    pub(crate) meanings: &'a Meanings,
}

/// The skill that a draft makes, regardless of duplicates.
///
/// # Errors
/// `Model` for a draft that is not [`insert_ready`].
pub(crate) fn skill_of(
    context: &Context<'_>,
    policy: &AdmitPolicy,
    sources: &DraftSources<'_>,
    draft: &SkillDraft,
    fallback: bool,
) -> Result<Skill> {
    let origin = match sources.role {
        _ if fallback => Origin::TraceAbstract,
        Role::Extract => Origin::Extracted,
        Role::Refactor => Origin::Refactored,
        Role::Refine => Origin::Refined,
        Role::Lesson | Role::DistilBank => Origin::Distilled,
        Role::Curate => Origin::Curated,
        _ => Origin::Summary,
    };
    let provenance = Provenance::new(origin)
        .with_runs(vec![context.run.clone()])
        .with_tasks(sources.tasks.clone());
    // Ids grow with time: of equal utilities the skill with the greater id, the later one, stays in its tier.
    let identity = sha256_hex(format!("{}/{}/{}", context.run, sources.key, draft.title));
    let revision = context.library.revision();
    let admittance = Admittance {
        id: SkillId::new(format!("sk-{revision:08}-{}", &identity[..8])),
        version: Version(1),
        provenance,
        taint: sources.taint,
        parents: sources.parents.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Kind, Scope};

    #[test]
    fn a_draft_that_no_file_can_hold_is_refused_at_insert() {
        let draft = SkillDraft {
            title: "match_bases".to_owned(),
            description: "Equal powers have equal exponents".to_owned(),
            kind: Kind::Workflow,
            scope: Scope::General,
            trigger: None,
            body: "Write both sides with one base.".to_owned(),
            metadata: BTreeMap::new(),
        };
        let refused = |change: fn(&mut SkillDraft)| {
            let mut draft = draft.clone();
            change(&mut draft);
            insert_ready(&draft).unwrap_err().to_string()
        };
        assert_eq!(insert_ready(&draft).unwrap().as_str(), "match-bases");
        let mut titled = draft.clone();
        titled.title = "退款先查".to_owned();
        assert_eq!(insert_ready(&titled).unwrap().as_str(), "tui-kuan-xian-cha");
        assert_eq!(
            refused(|draft| draft.title = "!?".to_owned()),
            "the title has no letter or digit to make a name of (stage insert)"
        );
        assert_eq!(
            refused(|draft| draft.body.clear()),
            "the body is empty (stage insert)"
        );
        assert_eq!(
            refused(|draft| draft.description.clear()),
            "`description` is empty (stage insert)"
        );
        assert_eq!(
            refused(|draft| draft.body.push('\u{202E}')),
            "`body` holds a hidden character (U+202E, bidirectional control) (stage insert)"
        );
    }
}
