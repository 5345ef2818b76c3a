//! Conversion between step lists and the bodies of skills.

use journeyman::domain::{Kind, Scope, Skill, SkillDraft};

use crate::tool::{ANY_NOUN, DEFAULT_SLOT, RESULT_SLOT, SkillText, TASK_SLOT, ToolName};

/// The skill draft of a step list.
#[must_use]
pub fn to_draft(text: &SkillText) -> SkillDraft {
    let ToolName { verb, noun } = &text.title;
    let mut body = format!("# How to {verb} the {noun}\n\n");
    for (number, step) in text.steps.iter().enumerate() {
        body.push_str(&format!("{}. `{step}`\n", number + 1));
    }
    body.push_str(&format!(
        "\n`{TASK_SLOT}` is a value that the task gives, `{RESULT_SLOT}` the value that the latest result gave, \
         `{DEFAULT_SLOT}` the default.\n"
    ));
    SkillDraft {
        title: format!("{verb}-{noun}"),
        description: format!(
            "The calls that {verb} the {noun}. Use when a task asks to {verb} the {noun}."
        ),
        kind: Kind::Workflow,
        scope: Scope::General,
        trigger: Some(format!("{verb} {noun}")),
        body,
        metadata: std::collections::BTreeMap::new(),
    }
}

/// A skill's text in the dialect: its steps under the title of the tool that the last step calls, or of all tools of
/// its verb where the trigger says so. A skill whose body is not a step list becomes its name and the words of its
/// body.
#[must_use]
pub fn of_skill(skill: &Skill) -> String {
    let Some(mut text) = read_body(&skill.body) else {
        return plain_words(skill);
    };
    if skill.trigger.as_deref() == Some(&format!("{} {ANY_NOUN}", text.title.verb)) {
        text.title.noun = ANY_NOUN.to_owned();
    }
    text.to_string()
}

/// Reads the step list of a body: its numbered lines. `None` when there are none, or a line is not a command.
#[must_use]
pub fn read_body(body: &str) -> Option<SkillText> {
    let numbered = |line: &str| {
        let (number, step) = line.trim().split_once(". ")?;
        number.parse::<u32>().ok()?;
        Some(step.trim().trim_matches('`').to_owned())
    };
    let steps: Vec<String> = body.lines().filter_map(numbered).collect();
    let title = ToolName::parse(steps.last()?)?;
    SkillText::parse(&SkillText { title, steps }.to_string())
}

fn plain_words(skill: &Skill) -> String {
    let words = skill.body.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}: {words}", skill.name.as_str().replace('-', " "))
}
