//! Conversion between step lists and the bodies of skills.

use journeyman::domain::{Kind, Scope, Skill, SkillDraft};

use crate::tool::{ANY_NOUN, DEFAULT_SLOT, RESULT_SLOT, SkillText, TASK_SLOT, ToolName};

/// The word of a sentence between a tool and its demand ([`Demand::note`](crate::tool::Demand::note)).
const NEEDS: &str = "needs";

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
/// its verb where the trigger says so. A skill whose body has sentences about a tool, such as the principles of lessons,
/// becomes these sentences ([`read_sentences`]), and any other one its name and the words of its body.
#[must_use]
pub fn of_skill(skill: &Skill) -> String {
    let Some(mut text) = read_body(&skill.body) else {
        return match read_sentences(&skill.body) {
            Some(Sentences { title, sentences }) => format!("{title}: {}", sentences.join("; ")),
            None => plain_words(skill),
        };
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

/// What a tool demands, in sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentences {
    /// The tool.
    pub title: ToolName,
    /// Sentences such as `unseal coffee needs tone off`, each once.
    pub sentences: Vec<String>,
}

/// Reads the sentences of a body: its lines of the form `VERB NOUN needs VERB NOUN`, `... needs PARAMETER VALUE` or `... needs
/// PARAMETER from VERB NOUN`, about the tool of the first one. `None` when there are none.
#[must_use]
pub fn read_sentences(body: &str) -> Option<Sentences> {
    let about = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            // A tool or a value of a parameter, or a value from a tool.
            [verb, noun, NEEDS, _, _] | [verb, noun, NEEDS, _, "from", _, _] => {
                is_plain(&[verb, noun]).then(|| ToolName::new(verb, noun))
            }
            _ => None,
        }
    };
    let mut lines = body
        .lines()
        .map(str::trim)
        .filter_map(|line| Some((about(line)?, line)));
    let (title, first) = lines.next()?;
    let mut sentences = vec![first.to_owned()];
    for (tool, line) in lines {
        if tool == title && !sentences.iter().any(|known| known == line) {
            sentences.push(line.to_owned());
        }
    }
    Some(Sentences { title, sentences })
}

/// Whether words are written as those of tools are: in lower case, without marks.
fn is_plain(words: &[&str]) -> bool {
    let mut letters = words.iter().flat_map(|word| word.chars());
    letters.all(|c| c.is_lowercase() || c.is_numeric())
}

fn plain_words(skill: &Skill) -> String {
    let words = skill.body.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}: {words}", skill.name.as_str().replace('-', " "))
}
