//! The text of a task as the bundled model reads and writes it. Training text and prompts are both made here, so they cannot drift apart.

use journeyman::domain::{Message, Prompt, Span, Speaker};
use serde::Serialize;

use crate::tool::Tool;
use crate::vocabulary::Vocabulary;

/// What ends the usage line behind `<plan>`.
pub(crate) const ROW_END: &str = "\n";

/// A part of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A control token, by its text.
    Control(&'static str),
    /// Text that holds no controls, whatever it looks like.
    Text(String),
}

/// Parts in order, each with whether the model is to learn to write it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    parts: Vec<(Part, bool)>,
}

impl Script {
    /// The start of every script: what is asked.
    #[must_use]
    pub fn task(query: &str) -> Self {
        Self::default()
            .control("<s>", false)
            .control("<task>", false)
            .text(query, false)
    }

    /// Blocks with skills, each with whether its words follow from the task. The second opens otherwise, so that the
    /// agent can say which one it follows. More than two look like second ones and cannot be told apart.
    #[must_use]
    pub fn skills<'a>(mut self, skills: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        for (number, (skill, learnt)) in skills.into_iter().enumerate() {
            let opening = if number == 0 { "<skill>" } else { "<skill2>" };
            self = self.control(opening, false).text(skill, learnt);
        }
        self
    }

    /// The usage lines of the visible tools.
    #[must_use]
    pub fn tools<'a>(self, tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let rows: Vec<String> = tools.into_iter().map(Tool::usage).collect();
        self.control("<tools>", false)
            .text(&rows.join("\n "), false)
    }

    /// The place where the model names its tool.
    #[must_use]
    pub fn plan(self) -> Self {
        self.control("<plan>", false)
    }

    /// The usage line of the named tool and its end, which tells that no parameter follows.
    #[must_use]
    pub fn row(self, usage: &str, learnt: bool) -> Self {
        self.text(&format!("{usage}{ROW_END}"), learnt)
    }

    /// The same line with only what stands behind the tool's name to learn.
    #[must_use]
    pub fn recited(mut self, tool: &Tool) -> Self {
        let (name, usage) = (tool.name.to_string(), tool.usage());
        let rest = usage.get(name.len()..).unwrap_or_default();
        self = self.text(&name, false);
        self.parts
            .push((Part::Text(format!("{rest}{ROW_END}")), true));
        self
    }

    /// A call; `learnt` is off for one that shows a mistake.
    #[must_use]
    pub fn call(self, line: &str, learnt: bool) -> Self {
        self.control("<call>", learnt)
            .text(line, learnt)
            .control("<obs>", learnt)
    }

    /// What the service answered.
    #[must_use]
    pub fn reply(self, text: &str) -> Self {
        self.text(text, false)
    }

    /// An attempt as it is compared with others: its task, and its calls with what came back.
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

    /// A note: a checklist, a rule, how an earlier skill fared.
    #[must_use]
    pub fn note(self, text: &str) -> Self {
        self.control("<note>", false).text(text, false)
    }

    /// What a role writes, and its end.
    #[must_use]
    pub fn answer(self, text: &str) -> Self {
        self.text(text, true).control("<end>", true)
    }

    /// Adds a control token.
    #[must_use]
    pub fn control(mut self, control: &'static str, learnt: bool) -> Self {
        self.parts.push((Part::Control(control), learnt));
        self
    }

    /// Adds text with the space that begins every text; nothing when it is empty.
    #[must_use]
    pub fn text(mut self, text: &str, learnt: bool) -> Self {
        if !text.is_empty() {
            self.parts.push((Part::Text(format!(" {text}")), learnt));
        }
        self
    }

    /// The parts, each with whether the model learns to write it.
    #[must_use]
    pub fn parts(&self) -> &[(Part, bool)] {
        &self.parts
    }

    /// All parts as one readable text.
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

    /// As a prompt: controls as the author's markers, all else as data.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        let span = |(part, _): &(Part, bool)| match part {
            Part::Control(control) => Span::Control((*control).to_owned()),
            Part::Text(text) => Span::Data(text.clone()),
        };
        Prompt {
            messages: vec![Message {
                speaker: Speaker::User,
                content: self.parts.iter().map(span).collect(),
            }],
            open: Vec::new(),
        }
    }

    /// Token ids, each with whether it is learnt.
    #[must_use]
    pub fn encode(&self, vocabulary: &Vocabulary) -> Vec<(u16, bool)> {
        let mut ids = Vec::new();
        for (part, learnt) in &self.parts {
            match part {
                Part::Control(control) => {
                    ids.extend(vocabulary.id(control).map(|id| (id, *learnt)))
                }
                Part::Text(text) => {
                    ids.extend(vocabulary.encode(text).into_iter().map(|id| (id, *learnt)))
                }
            }
        }
        ids
    }
}

/// The control that says which of the skills is used.
#[must_use]
pub fn choice(used: Option<usize>) -> &'static str {
    match used {
        None => "<skip>",
        Some(0) => "<use>",
        Some(_) => "<use2>",
    }
}
