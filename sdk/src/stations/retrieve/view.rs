//! The text of a skill that retrieval searches.

use crate::domain::{Scope, Skill};

/// The length of the part of the body in the view, in characters.
const BODY_CHARS: usize = 300;

/// The compact view of a skill, one text for each part that it has: name, description, trigger, tools, category and the
/// first 300 characters of its body (HiSME B).
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

/// The view as one text with a line for each part, for an embedder.
///
/// ```
/// use journeyman::{stations::retrieve::view_text, testing::sample};
///
/// assert_eq!(view_text(&sample::skill("brew")), "brew\nHow to do brew.\nTo do brew, say brew.");
/// ```
pub fn view_text(skill: &Skill) -> String {
    view(skill).join("\n")
}
