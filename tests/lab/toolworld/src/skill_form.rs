//! Skills whose bodies are the command lines of step lists.

use journeyman::domain::SkillDraft;

use crate::tool::{DEFAULT_SLOT, RESULT_SLOT, SkillText, TASK_SLOT, ToolName};

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
    let description =
        format!("The calls that {verb} the {noun}. Use when a task asks to {verb} the {noun}.");
    let mut draft = SkillDraft::new(format!("{verb}-{noun}"), description, body);
    draft.trigger = Some(format!("{verb} {noun}"));
    draft
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_numbers_the_steps_and_says_what_the_slots_are() {
        let text = SkillText {
            title: ToolName::new("unseal", "coffee"),
            steps: vec![
                "unseal bell".to_owned(),
                "unseal coffee tone off power $".to_owned(),
            ],
        };
        let draft = to_draft(&text);
        assert_eq!(
            draft.body,
            "# How to unseal the coffee\n\n1. `unseal bell`\n2. `unseal coffee tone off power $`\n\n`$` is a value that the task \
             gives, `@` the value that the latest result gave, `#` the default.\n"
        );
        assert_eq!(draft.title, "unseal-coffee");
        assert_eq!(draft.trigger.as_deref(), Some("unseal coffee"));
    }
}
