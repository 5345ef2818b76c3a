//! A skill as retrieval sees it.

use crate::domain::{Scope, Skill};

/// How much of the body stands in the view, in characters.
const BODY_CHARS: usize = 300;

/// The compact view of a skill: name, description, trigger, tools, domain and the beginning of its body (HiSME B).
pub fn view(skill: &Skill) -> Vec<String> {
    let domain = match &skill.scope {
        Scope::Category(category) => category.to_string(),
        Scope::General => String::new(),
    };
    let body: String = skill.body.chars().take(BODY_CHARS).collect();
    let parts = [
        skill.name.as_str().replace('-', " "),
        skill.description.clone(),
        skill.trigger.clone().unwrap_or_default(),
        skill.allowed_tools.join(" "),
        domain,
        body,
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// The view as one text, a line each: what an embedder is given.
pub fn view_text(skill: &Skill) -> String {
    view(skill).join("\n")
}
