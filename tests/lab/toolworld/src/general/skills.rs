//! Skills about recipes, in the styles in which people and models write SKILL.md files, and the style that the bundled
//! model writes.

use journeyman::domain::{Origin as Maker, Provenance, Skill, SkillDraft, SkillName};
use journeyman::library::format::AriseDocument;

use super::recipe::{Origin, Recipe};
use super::styles::{Style, body, insight, method, numbered};
use crate::seed::Draws;
use crate::tool::{ToolName, wire_name};

/// The draft of a recipe as the bundled model writes it.
#[must_use]
pub fn draft(recipe: &Recipe) -> SkillDraft {
    let ToolName { verb, noun } = &recipe.tool;
    let description =
        format!("How to {verb} the {noun}. Use when a task asks to {verb} the {noun}.");
    let mut draft = SkillDraft::new(format!("{verb}-{noun}"), description, numbered(recipe, "`"));
    draft.trigger = Some(format!("A task asks to {verb} the {noun}."));
    draft
}

/// Reads a body of numbered calls as it is written by [`draft`]; `None` for any other body.
#[must_use]
pub fn read(body: &str) -> Option<Recipe> {
    let mut lines = body.lines().filter_map(|line| {
        let (number, call) = line.trim().split_once(". Call ")?;
        number.parse::<u32>().ok()?;
        Some(call.trim().trim_end_matches('.').replace('`', ""))
    });
    let mut calls: Vec<String> = lines.by_ref().collect();
    let last = calls.pop()?;
    let (tool, settings) = last.split_once(" with ").unwrap_or((last.as_str(), ""));
    let mut arguments = Vec::new();
    for setting in settings.split(", ").filter(|text| !text.is_empty()) {
        let (parameter, origin) = setting.split_once(' ')?;
        let origin = match origin.strip_prefix("from ") {
            Some("the task") => Origin::Task,
            Some(source) => Origin::Result(name(source)?),
            None => Origin::Fixed(origin.to_owned()),
        };
        arguments.push((parameter.to_owned(), origin));
    }
    arguments.sort_by(|one, other| one.0.cmp(&other.0));
    Some(Recipe {
        tool: name(tool)?,
        before: calls.iter().map(|call| name(call)).collect::<Option<_>>()?,
        arguments,
    })
}

/// A tool's name from its form in calls.
pub(crate) fn name(wire: &str) -> Option<ToolName> {
    let (verb, noun) = wire.trim().split_once('_')?;
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    (plain(verb) && plain(noun)).then(|| ToolName::new(verb, noun))
}

/// A skill about a recipe. Its name is the tool's, or now and then another, so that citing a skill is copying its name.
#[must_use]
pub fn skill(recipe: &Recipe, style: Style, draws: &mut Draws) -> Skill {
    let ToolName { verb, noun } = &recipe.tool;
    let title = match draws.weighted(&[60, 12, 10, 10, 8]) {
        0 => format!("{verb}-{noun}"),
        1 => format!("{verb}-the-{noun}"),
        2 => format!("how-to-{verb}-{noun}"),
        3 => format!("{noun}-{verb}"),
        _ => format!("skill-{}", draws.between(1, 99)),
    };
    if style == Style::Arise
        && let Some(skill) = arise(recipe, &title)
    {
        return skill;
    }
    let description = match draws.weighted(&[45, 20, 20, 15]) {
        0 => format!("How to {verb} the {noun}. Use when a task asks to {verb} the {noun}."),
        1 => format!("Use when a task asks to {verb} the {noun}."),
        2 => format!("To {verb} a {noun}."),
        _ => format!("What {} needs.", wire_name(&recipe.tool)),
    };
    let trigger = draws.chance(0.3).then(|| format!("{verb} {noun}"));
    let body = body(recipe, style, draws);
    let mut draft = SkillDraft::new(title, description, body);
    draft.trigger = trigger;
    of_draft(&draft)
}

fn arise(recipe: &Recipe, title: &str) -> Option<Skill> {
    let ToolName { verb, noun } = &recipe.tool;
    let document = AriseDocument::new(
        title,
        "general",
        &insight(recipe),
        &method(recipe),
        Some(&format!("Check that the {noun} took the {verb} call")),
    );
    Some(of_draft(&SkillDraft::from(&document.ok()?)))
}

/// The library's skill of a draft, active, in version 1.
#[must_use]
pub fn of_draft(draft: &SkillDraft) -> Skill {
    let name = SkillName::slug(&draft.title).unwrap_or_default();
    Skill::of_draft(name, draft.clone()).with_provenance(Provenance::new(Maker::Extracted))
}
