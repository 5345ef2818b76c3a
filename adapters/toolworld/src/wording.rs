//! The words of tasks and of refusals.

use serde::{Deserialize, Serialize};

use crate::lexicon::{NOUNS, PLACES};
use crate::seed::Draws;
use crate::simulate::Refusal;
use crate::tool::Setting;
use crate::world::Goal;

/// How many templates there are for a task's text.
pub const TEMPLATES: usize = 16;

/// How the services of a world word what they refuse. All name the missing thing in words that can be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Wording {
    /// `error needs tone off`
    #[default]
    Needs,
    /// `refused tone must be off`
    Must,
    /// `failed without tone off`
    Without,
}

impl Wording {
    /// The text of a refusal.
    #[must_use]
    pub fn refuse(self, refusal: &Refusal) -> String {
        match (self, refusal) {
            (Self::Needs, Refusal::NeedsCall(tool)) => format!("error needs {tool}"),
            (Self::Must, Refusal::NeedsCall(tool)) => format!("refused first {tool}"),
            (Self::Without, Refusal::NeedsCall(tool)) => format!("failed without {tool}"),
            (Self::Needs, Refusal::NeedsValue(Setting { parameter, value })) => {
                format!("error needs {parameter} {value}")
            }
            (Self::Must, Refusal::NeedsValue(Setting { parameter, value })) => {
                format!("refused {parameter} must be {value}")
            }
            (Self::Without, Refusal::NeedsValue(Setting { parameter, value })) => {
                format!("failed without {parameter} {value}")
            }
            (Self::Needs, Refusal::NeedsResult { parameter, source }) => {
                format!("error needs {parameter} from {source}")
            }
            (Self::Must, Refusal::NeedsResult { parameter, source }) => {
                format!("refused {parameter} comes from {source}")
            }
            (Self::Without, Refusal::NeedsResult { parameter, source }) => {
                format!("failed without {parameter} from {source}")
            }
            (_, Refusal::WrongValue(parameter)) => format!("error wrong {parameter}"),
            (_, Refusal::UnknownTool(tool)) => format!("error no tool {tool}"),
            (_, Refusal::UnknownParameter { tool, parameter }) => {
                format!("error {tool} has no {parameter}")
            }
            (
                _,
                Refusal::WrongType {
                    parameter,
                    number: true,
                },
            ) => format!("error {parameter} takes a number"),
            (
                _,
                Refusal::WrongType {
                    parameter,
                    number: false,
                },
            ) => format!("error {parameter} takes a word"),
            (_, Refusal::Malformed) => "error bad call".to_owned(),
            (_, Refusal::BudgetSpent) => "error budget spent".to_owned(),
        }
    }
}

/// A task to be put into words.
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

    /// A text from any template.
    #[must_use]
    pub fn draw(&self, draws: &mut Draws) -> String {
        let template = draws.below(TEMPLATES);
        self.write(template, draws)
    }

    /// A text from one template; the draws choose the place and how the values are introduced.
    #[must_use]
    pub fn write(&self, template: usize, draws: &mut Draws) -> String {
        let (verb, noun) = (&self.goal.target.verb, &self.goal.target.noun);
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
