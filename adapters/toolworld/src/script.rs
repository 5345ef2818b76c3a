//! Scripts: the text of tasks as the bundled model reads and writes it. Training text and prompts are both made here,
//! so they cannot differ.

use journeyman::domain::{Message, Prompt, SkillUse, Span, Speaker};
use serde::Serialize;

use crate::tool::Tool;
use crate::vocabulary::Vocabulary;

/// The end of the usage line after `<plan>`.
pub(crate) const ROW_END: &str = "\n";

/// A part of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A control token, by its text.
    Control(&'static str),
    /// Text, encoded without control tokens whatever it contains.
    Text(String),
}

/// Parts in order, each with whether the model learns to write it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    parts: Vec<(Part, bool)>,
}

impl Script {
    /// Starts a script with a task's text.
    #[must_use]
    pub fn task(query: &str) -> Self {
        Self::default()
            .control("<s>", false)
            .control("<task>", false)
            .text(query, false)
    }

    /// Adds skills, each with whether its words follow from the task. The second and later ones have another opening
    /// token, so that the agent can say which it follows; more than two cannot be told apart.
    #[must_use]
    pub fn skills<'a>(mut self, skills: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        for (number, (skill, learned)) in skills.into_iter().enumerate() {
            let opening = if number == 0 { "<skill>" } else { "<skill2>" };
            self = self.control(opening, false).text(skill, learned);
        }
        self
    }

    /// Adds the usage lines of the visible tools.
    #[must_use]
    pub fn tools<'a>(self, tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let rows: Vec<String> = tools.into_iter().map(Tool::usage).collect();
        self.control("<tools>", false)
            .text(&rows.join("\n "), false)
    }

    /// Opens the plan, where the model names its tool.
    #[must_use]
    pub fn plan(self) -> Self {
        self.control("<plan>", false)
    }

    /// Adds the usage line of the named tool and its end, which shows that no parameter follows.
    #[must_use]
    pub fn row(self, usage: &str, learned: bool) -> Self {
        self.text(&format!("{usage}{ROW_END}"), learned)
    }

    /// Adds a usage line of which only the part after the tool's name is learned.
    #[must_use]
    pub fn recited(mut self, tool: &Tool) -> Self {
        let (name, usage) = (tool.name.to_string(), tool.usage());
        let rest = usage.get(name.len()..).unwrap_or_default();
        self = self.text(&name, false);
        self.parts
            .push((Part::Text(format!("{rest}{ROW_END}")), true));
        self
    }

    /// Adds a call; `learned` is false for a call that is a mistake.
    #[must_use]
    pub fn call(self, line: &str, learned: bool) -> Self {
        self.control("<call>", learned)
            .text(line, learned)
            .control("<obs>", learned)
    }

    /// Adds the service's answer.
    #[must_use]
    pub fn reply(self, text: &str) -> Self {
        self.text(text, false)
    }

    /// Adds an attempt for comparison with others: its task, and its calls with their answers.
    #[must_use]
    pub fn compared<'a>(
        self,
        query: &str,
        calls: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let script = self.control("<task>", false).text(query, false);
        let call = |script: Self, (line, reply)| script.call(line, false).reply(reply);
        calls.into_iter().fold(script, call)
    }

    /// Adds a note: a checklist, a rule, or the outcome of an earlier skill.
    #[must_use]
    pub fn note(self, text: &str) -> Self {
        self.control("<note>", false).text(text, false)
    }

    /// Adds a role's answer and the end token.
    #[must_use]
    pub fn answer(self, text: &str) -> Self {
        self.text(text, true).control("<end>", true)
    }

    /// Adds a control token.
    #[must_use]
    pub fn control(mut self, control: &'static str, learned: bool) -> Self {
        self.parts.push((Part::Control(control), learned));
        self
    }

    /// Adds text after the space that begins every text; nothing when it is empty.
    #[must_use]
    pub fn text(mut self, text: &str, learned: bool) -> Self {
        if !text.is_empty() {
            self.parts.push((Part::Text(format!(" {text}")), learned));
        }
        self
    }

    /// The parts, each with whether the model learns to write it.
    #[must_use]
    pub fn parts(&self) -> &[(Part, bool)] {
        &self.parts
    }

    /// All parts as one text for people.
    #[must_use]
    pub fn readable(&self) -> String {
        self.parts
            .iter()
            .map(|(part, _)| match part {
                Part::Control(control) => control,
                Part::Text(text) => text.as_str(),
            })
            .collect()
    }

    /// The script as a prompt: control tokens as control spans, all else as data.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        let span = |(part, _): &(Part, bool)| match part {
            Part::Control(control) => Span::Control((*control).to_owned()),
            Part::Text(text) => Span::Data(text.clone()),
        };
        Prompt {
            messages: vec![Message::new(
                Speaker::User,
                self.parts.iter().map(span).collect(),
            )],
            open: Vec::new(),
        }
    }

    /// Token ids, each with whether it is learned.
    #[must_use]
    pub fn encode(&self, vocabulary: &Vocabulary) -> Vec<(u16, bool)> {
        let mut ids = Vec::new();
        for (part, learned) in &self.parts {
            match part {
                Part::Control(control) => {
                    ids.extend(vocabulary.id(control).map(|id| (id, *learned)))
                }
                Part::Text(text) => {
                    ids.extend(vocabulary.encode(text).into_iter().map(|id| (id, *learned)))
                }
            }
        }
        ids
    }
}

/// What the agent said of the `skills` in its prompt: it follows one of the first two, or none. Without a choice it said nothing.
pub(crate) fn uses(said: &str, skills: usize) -> Vec<SkillUse> {
    let followed = [choice(Some(0)), choice(Some(1))];
    let place = followed.iter().position(|choice| said.contains(choice));
    if place.is_none() && !said.contains(choice(None)) {
        return Vec::new();
    }
    let of = |at| match place == Some(at) {
        true => SkillUse::Followed,
        false => SkillUse::NotFollowed,
    };
    (0..skills).map(of).collect()
}

/// The control token that says which skill is used: `<skip>` for none.
#[must_use]
pub fn choice(used: Option<usize>) -> &'static str {
    match used {
        None => "<skip>",
        Some(0) => "<use>",
        Some(_) => "<use2>",
    }
}
