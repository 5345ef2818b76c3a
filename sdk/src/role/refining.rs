//! Parses the answers of the role refine.

use serde_json::Value;

use super::{
    drafts::{BODY, KINDS, name, nothing, reason},
    object::{Object, Read, refuse},
    shown,
    values::{LINE, line, lines, or_empty, prose, string, word},
};
use crate::{
    contract::{Refinable, RoleAnswer},
    domain::{Scope, Skill, SkillDraft, Trace},
    format::SkillMd,
};

/// The field with the reason for a change of a skill.
const CHANGE: &str = "change";
/// The field with the reason for archiving a skill.
const ARCHIVE: &str = "archive";
const TOOLS: &str = "tools";

/// A refined skill that keeps its name, kind, scope and tools.
pub(super) fn text(object: &mut Object, skill: &Skill) -> Read<RoleAnswer> {
    match nothing(object)? {
        Some(nothing) => Ok(nothing),
        None => Ok(RoleAnswer::Draft(Box::new(draft(object, skill)?))),
    }
}

/// A refined skill of which everything may be changed. What the answer leaves out stays.
pub(super) fn whole(object: &mut Object, skill: &Skill, attempts: &[Trace]) -> Read<RoleAnswer> {
    if let Some(nothing) = nothing(object)? {
        return Ok(nothing);
    }
    if let Some(reason) = reason(object, ARCHIVE)? {
        return Ok(RoleAnswer::Archive(reason));
    }
    let refinable = Refinable::of(skill, attempts);
    let mut draft = draft(object, skill)?;
    if is_given(object, "name") {
        draft.title = name(object)?;
    }
    if is_given(object, "kind") {
        draft.kind = word(object, "kind", &KINDS)?;
    }
    if is_given(object, "scope") {
        draft.scope = scope(object, &refinable)?;
    }
    let draft = Box::new(draft);
    Ok(match is_given(object, TOOLS) {
        true => RoleAnswer::Revision {
            draft,
            tools: tools(object, &refinable)?,
        },
        false => RoleAnswer::Draft(draft),
    })
}

/// The skill with the answer's description, trigger and body.
fn draft(object: &mut Object, skill: &Skill) -> Read<SkillDraft> {
    let mut metadata = skill.metadata.clone();
    metadata.insert(CHANGE.to_owned(), line(object, CHANGE, LINE)?);
    Ok(SkillDraft {
        title: shown::name(skill).to_owned(),
        description: line(object, "description", SkillMd::MAX_DESCRIPTION)?,
        kind: skill.kind,
        scope: skill.scope.clone(),
        trigger: Some(or_empty(object, "trigger")?).filter(|trigger| !trigger.is_empty()),
        body: prose(object, "body", BODY)?,
        metadata,
    })
}

/// Whether an answer has a field that it may leave out. Null and an empty text are left out, too.
fn is_given(object: &mut Object, field: &str) -> bool {
    let is_empty = |value: &Value| match value {
        Value::String(text) => text.trim().is_empty(),
        value => value.is_null(),
    };
    if object.get(field).is_some_and(is_empty) {
        object.remove(field);
    }
    object.contains_key(field)
}

/// The scope: `general`, or one of the categories with or without `category:` before it.
fn scope(object: &mut Object, refinable: &Refinable<'_>) -> Read<Scope> {
    let text = shown::one_line(string(object, "scope")?);
    let prefixed = text.strip_prefix(shown::CATEGORY).map(str::trim_start);
    let is_meant = |category: &str| {
        let category = shown::one_line(category);
        category == text || Some(category.as_str()) == prefixed
    };
    let mut categories = refinable.categories.iter();
    // A category of this name is shown with `category:` before it.
    let is_general = text.eq_ignore_ascii_case(shown::GENERAL);
    let scope = match categories.find(|category| is_meant(category.as_str())) {
        _ if is_general => Scope::General,
        Some(category) => Scope::Category((*category).clone()),
        None => return refuse("scope is none of those that are shown"),
    };
    object.insert("scope".to_owned(), Value::from(shown::scope(&scope)));
    Ok(scope)
}

/// The tools, each once.
fn tools(object: &mut Object, refinable: &Refinable<'_>) -> Read<Vec<String>> {
    let mut tools: Vec<String> = Vec::new();
    for tool in lines(object, (TOOLS, "a tool"), usize::MAX)? {
        if !refinable.tools.contains(tool.as_str()) {
            return refuse("tools has one that the skill does not have and that no attempt called");
        }
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    Ok(tools)
}
