//! The text of a task as the bundled model reads and writes it. Training text and prompts are both made here, so they cannot drift apart.

use crate::tool::{SkillText, Tool};
use crate::vocabulary::Vocabulary;

/// A part of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// A block with a skill; `learnt` when its words follow from the task.
    #[must_use]
    pub fn skill(self, skill: &str, learnt: bool) -> Self {
        self.control("<skill>", false).text(skill, learnt)
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

    /// The usage line of the named tool and whether the skill is used.
    #[must_use]
    pub fn choose(self, usage: &str, uses: bool) -> Self {
        self.text(usage, true).control(choice(uses), true)
    }

    /// A call; with `learnt` off for one that shows a mistake.
    #[must_use]
    pub fn call(self, line: &str, learnt: bool) -> Self {
        self.control("<call>", true)
            .text(line, learnt)
            .control("<obs>", learnt)
    }

    /// What the service answered.
    #[must_use]
    pub fn reply(self, text: &str) -> Self {
        self.text(text, false)
    }

    /// The role that writes a skill from what went before, and what it writes.
    #[must_use]
    pub fn extract(self, skill: &SkillText) -> Self {
        self.control("<extract>", false)
            .text(&skill.to_string(), true)
            .control("<end>", true)
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

/// The control that says whether the skill is used.
#[must_use]
pub fn choice(uses: bool) -> &'static str {
    if uses { "<use>" } else { "<skip>" }
}
