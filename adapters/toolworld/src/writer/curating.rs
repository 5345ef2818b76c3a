//! Prompts and answers of the role that decides on library changes, and of the role that tags tasks.

use journeyman::Result;
use journeyman::contract::RoleAnswer;
use journeyman::domain::{InjectedSkill, Injection, Skill, SkillDraft, SkillRef, ToolCall, Trace};
use serde_json::{Value, json};

use super::shown::{SKILLS, tools_shown};
use super::unusable::unusable;
use super::writing::fault;
use crate::dialect::with_choice;
use crate::skill_form::{of_skill, read_body, to_draft};
use crate::tool::{SkillText, ToolName};

/// The attempt as the curator is shown it: with the first two retrieved skills in its prompt, and with the agent's choice
/// among these. Skills that were retrieved and not injected are not in the attempt, and the model was trained on prompts
/// that have them.
pub(super) fn shown(attempt: &Trace, retrieved: &[Skill]) -> Trace {
    let mut shown = attempt.clone();
    let retrieved: Vec<&Skill> = retrieved.iter().take(SKILLS).collect();
    let in_prompt = |skill: &Skill| InjectedSkill {
        skill: skill.reference(),
        text: format!(" {}", of_skill(skill)),
        sha256: skill.content_sha256(),
    };
    shown.trajectory.injection = Injection {
        skills: retrieved.iter().map(|skill| in_prompt(skill)).collect(),
    };
    let followed = |skill: &SkillRef| {
        let mut exposures = attempt.trajectory.exposures.iter();
        exposures.any(|exposure| exposure.used.is_followed() && exposure.skill == *skill)
    };
    let used = retrieved
        .iter()
        .position(|skill| followed(&skill.reference()));
    let mut own = shown.trajectory.steps.iter_mut();
    if let Some(first) = own.find(|step| !step.transcript.is_empty()) {
        first.transcript = with_choice(&first.transcript, used);
    }
    shown
}

/// Reads `insert SKILL`, `update N SKILL`, `delete N` or `keep` as calls: at most one. An insert of a skill about the tool of a
/// retrieved one is an update of that one.
pub(super) fn calls(attempt: &Trace, retrieved: &[Skill], text: &str) -> Result<RoleAnswer> {
    let retrieved = retrieved
        .get(..SKILLS.min(retrieved.len()))
        .unwrap_or_default();
    let (verb, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let call = match verb {
        "keep" if rest.is_empty() => return Ok(RoleAnswer::Calls(Vec::new())),
        "insert" => {
            let new = skill(attempt, rest, text)?;
            match of_title(retrieved, &new) {
                Some(before) => update(before, &new),
                None => insert(&new),
            }
        }
        "update" => {
            let (place, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let before = numbered(retrieved, place, text)?;
            let new = skill(attempt, rest, text)?;
            if read_body(&before.body).is_some_and(|old| old.title != new.title) {
                return Err(unusable("the new text is about another tool", text));
            }
            update(before, &new)
        }
        "delete" => {
            let skill = numbered(retrieved, rest, text)?;
            let reason = "out of date, beside another skill about the same tool";
            call(
                "delete_skill",
                json!({"skill": skill.name, "reason": reason}),
            )
        }
        _ => {
            let message =
                "the answer is not `insert SKILL`, `update N SKILL`, `delete N` or `keep`";
            return Err(unusable(message, text));
        }
    };
    Ok(RoleAnswer::Calls(vec![call]))
}

fn insert(new: &SkillText) -> ToolCall {
    let SkillDraft {
        title,
        description,
        body,
        ..
    } = to_draft(new);
    call(
        "insert_skill",
        json!({"name": title, "description": description, "body": body}),
    )
}

fn update(before: &Skill, new: &SkillText) -> ToolCall {
    call(
        "update_skill",
        json!({"skill": before.name, "body": to_draft(new).body}),
    )
}

/// The retrieved skill about the tool of a new one, if it is the only one. After an attempt that did not follow it the model
/// writes `insert`, with the text that the skill should have.
fn of_title<'a>(retrieved: &'a [Skill], new: &SkillText) -> Option<&'a Skill> {
    let about = |skill: &&Skill| read_body(&skill.body).is_some_and(|old| old.title == new.title);
    let mut about = retrieved.iter().filter(about);
    about.next().filter(|_| about.next().is_none())
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        arguments: match arguments {
            Value::Object(arguments) => arguments,
            _ => serde_json::Map::new(),
        },
    }
}

/// The skill of an answer, whose tools the attempt had.
fn skill(attempt: &Trace, written: &str, text: &str) -> Result<SkillText> {
    let Some(skill) = SkillText::parse(written) else {
        let message =
            "the skill is not `verb noun: step; step` with a last step that calls that tool";
        return Err(unusable(message, text));
    };
    let tools = tools_shown(&attempt.trajectory);
    match skill.steps.iter().find_map(|step| fault(step, &tools)) {
        Some(fault) => Err(unusable(fault, text)),
        None => Ok(skill),
    }
}

/// The retrieved skill with a number from 1.
fn numbered<'a>(retrieved: &'a [Skill], number: &str, text: &str) -> Result<&'a Skill> {
    let place = number.parse::<usize>().ok();
    let place = place.and_then(|number| number.checked_sub(1));
    place
        .and_then(|place| retrieved.get(place))
        .ok_or_else(|| unusable("the answer names no skill that was shown", text))
}

/// Reads `verb noun; parameter; parameter` as tags.
pub(super) fn tags(text: &str) -> Result<RoleAnswer> {
    let tags: Vec<String> = text.trim().split("; ").map(str::to_owned).collect();
    let words = |tag: &String| tag.split_whitespace().count();
    let sound = !tags.iter().any(|tag| tag.contains(';'))
        && match tags.as_slice() {
            [tool, parameters @ ..] => {
                let named = ToolName::parse(tool).is_some_and(|name| name.to_string() == *tool);
                named && parameters.iter().all(|parameter| words(parameter) == 1)
            }
            [] => false,
        };
    match sound {
        true => Ok(RoleAnswer::Tags(tags)),
        false => Err(unusable(
            "the answer is not `verb noun; parameter; parameter`",
            text,
        )),
    }
}
