//! The goal of a task, and the texts that ask for it.

use serde::{Deserialize, Serialize};

use crate::lexicon::{NOUNS, PLACES};
use crate::seed::Draws;
use crate::tool::{Setting, ToolName};

/// Number of templates for a task's text.
pub const TEMPLATES: usize = 16;

/// The goal of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// The tool that has to be called successfully.
    pub target: ToolName,
    /// The values that the task states.
    pub given: Vec<Setting>,
}

/// Writes the text of a task.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    goal: &'a Goal,
}

impl<'a> Request<'a> {
    /// The request for a goal.
    #[must_use]
    pub fn of(goal: &'a Goal) -> Self {
        Self { goal }
    }

    /// Writes a text from a random template.
    #[must_use]
    pub fn draw(&self, draws: &mut Draws) -> String {
        let template = draws.below(TEMPLATES);
        self.write(template, draws)
    }

    /// Writes a text from one template, modulo [`TEMPLATES`]; `draws` choose the place and the words that introduce the
    /// values.
    #[must_use]
    pub fn write(&self, template: usize, draws: &mut Draws) -> String {
        let other = self.bystander(draws);
        let at = if draws.chance(0.6) {
            format!(" {} the {other}", draws.word(PLACES))
        } else {
            String::new()
        };
        let set = self.settings();
        let with = if set.is_empty() {
            String::new()
        } else {
            format!(" {} {set}", draws.word(&["with", "use", "at"]))
        };
        self.text(template, other, &at, &with)
    }

    /// Writes a text from one template, modulo [`TEMPLATES`], that names no place; one template looks at `other` meanwhile.
    #[must_use]
    pub fn write_without_place(&self, template: usize, other: &str) -> String {
        let set = self.settings();
        let with = match set.is_empty() {
            true => String::new(),
            false => format!(" with {set}"),
        };
        self.text(template, other, "", &with)
    }

    fn text(&self, template: usize, other: &str, at: &str, with: &str) -> String {
        let (verb, noun) = (&self.goal.target.verb, &self.goal.target.noun);
        let set = self.settings();
        match template % TEMPLATES {
            0 => format!("go and {verb} the {noun}{at}{with}"),
            1 => format!("please {verb} the {noun}{at}{with}"),
            2 => format!("could you {verb} the {noun}{at}{with}"),
            3 => format!("we need to {verb} the {noun}{at}{with}"),
            4 => format!("{verb} the {noun}{at} for me{with}"),
            5 => format!("the {noun}{at} needs someone to {verb} it{with}"),
            6 => format!("it is time to {verb} the {noun}{at}{with}"),
            7 => format!("someone should {verb} the {noun}{at} now{with}"),
            8 => format!("help the crew {verb} the {noun}{at}{with}"),
            9 => format!("here is the {noun}{at} please {verb} it{with}"),
            10 => format!("the crew asks you to {verb} the {noun}{at}{with}"),
            11 if set.is_empty() => format!("again {verb} the {noun}{at}"),
            11 => format!("use {set} to {verb} the {noun}{at}"),
            12 => format!("before lunch {verb} the {noun}{at}{with}"),
            13 => format!("one last job {verb} that {noun}{at}{with}"),
            14 => format!("while looking at the {other} {verb} the {noun}{with}"),
            _ => format!("today we want to {verb} this {noun}{at}{with}"),
        }
    }

    /// The values, as `power 65 and tone off`.
    fn settings(&self) -> String {
        let pairs = self
            .goal
            .given
            .iter()
            .map(|setting| format!("{} {}", setting.parameter, setting.value));
        pairs.collect::<Vec<_>>().join(" and ")
    }

    fn bystander(&self, draws: &mut Draws) -> &'static str {
        loop {
            let noun = draws.word(NOUNS);
            if noun != self.goal.target.noun {
                return noun;
            }
        }
    }
}
