//! What a refiner may do beside changing a skill's text, where the recipe lets it ([`RefinePolicy::whole`]): change its name, kind,
//! scope and tools, and archive it (HiSME 3.3, algorithm 4; row H10).
//!
//! [`RefinePolicy::whole`]: crate::papers::hisme::RefinePolicy::whole

use crate::{
    contract::Refinable,
    domain::{LibraryChange, Skill, SkillName, State, Trace},
    library::format::SkillMd,
    papers::hisme::{MicroPolicy, refinement::NextVersion},
    stations::{
        admit::draft::{has_same_content, revision_of},
        maintain::MaintenanceContext,
    },
};

/// Why a version with other tools is refused where the recipe does not let the refiner change them.
pub(super) const NOT_ITS_TOOLS: &str = "the recipe lets the refiner change no tools";

/// Whether the recipe lets the refiner change all of a skill, and archive it.
pub(super) fn is_allowed(context: &MaintenanceContext<'_, MicroPolicy>) -> bool {
    let policy = context.policy.refine.as_ref();
    policy.is_some_and(|policy| policy.whole)
}

/// The change that archives a skill.
///
/// # Errors
/// The reason why it is not archived.
pub(super) fn archived(
    context: &MaintenanceContext<'_, MicroPolicy>,
    skill: &Skill,
    attempts: &[Trace],
    reason: &str,
) -> Result<LibraryChange, String> {
    if !is_allowed(context) {
        return Err("the recipe lets the refiner archive no skill".to_owned());
    }
    // Whoever writes into an attempt would else take a skill out of use.
    if attempts.iter().any(|trace| trace.taint() > skill.taint) {
        let reason = "not archived: the attempts have untrusted sources, and the skill has none";
        return Err(reason.to_owned());
    }
    Ok(LibraryChange::SetState {
        skill: skill.id.clone(),
        state: State::Archived,
        reason: format!("archived by the refiner: {reason}"),
    })
}

/// The next version of a skill with the name, kind, scope and tools that the refiner gave it, from these attempts; without `tools`
/// it keeps its own. The note says so where it keeps its name, since another skill, or the next version of one, has the new one.
///
/// # Errors
/// The reason why there is none: its scope or its tools are not those of the skill or of an attempt.
pub(super) fn revised(
    context: &MaintenanceContext<'_, MicroPolicy>,
    (before, attempts): (&Skill, &[Trace]),
    (new, tools): (Skill, Option<&[String]>),
    others: &[NextVersion],
) -> Result<(Skill, Option<String>), String> {
    let refinable = Refinable::of(before, attempts);
    if !refinable.has_scope(&new.scope) {
        return Err("its scope is the category of none of the attempts".to_owned());
    }
    let mut skill = revision_of(before, new);
    let (old, title) = (title(before), title(&skill));
    let mut note = None;
    let is_named = title == old || title == before.name.as_str();
    if !is_named && is_taken(context, before, &skill.name, others) {
        note = Some(format!(
            "it keeps its name, since another skill is called {}",
            skill.name
        ));
    }
    if is_named || note.is_some() {
        skill.name = before.name.clone();
        skill.original_name.clone_from(&before.original_name);
    }
    if let Some(tools) = tools {
        let unknown = tools
            .iter()
            .find(|tool| !refinable.tools.contains(tool.as_str()));
        if let Some(tool) = unknown {
            return Err(format!(
                "it names the tool {tool}, which it did not have and no attempt called"
            ));
        }
        skill.allowed_tools = tools.to_vec();
        // The name of a tool that a file cannot hold.
        SkillMd::from(&skill)
            .write()
            .map_err(|error| error.message().to_owned())?;
    }
    Ok((skill, note))
}

/// The name as it was written.
fn title(skill: &Skill) -> &str {
    let title = skill.original_name.as_deref();
    title.unwrap_or(skill.name.as_str())
}

/// Whether another skill, or the next version of one, has this name.
fn is_taken(
    context: &MaintenanceContext<'_, MicroPolicy>,
    skill: &Skill,
    name: &SkillName,
    others: &[NextVersion],
) -> bool {
    let known = context.library.by_name(name);
    let of_library = known.is_some_and(|known| known.skill.id != skill.id);
    let mut names = others.iter().map(|other| other.skill.name.folded());
    of_library || names.any(|other| other == name.folded())
}

/// Whether a next version is the same in all that the refiner may change.
pub(super) fn is_same(before: &Skill, next: &Skill) -> bool {
    has_same_content(before, next)
        && before.name == next.name
        && before.original_name == next.original_name
        && before.kind == next.kind
        && before.scope == next.scope
        && before.trigger == next.trigger
        && before.allowed_tools == next.allowed_tools
}
