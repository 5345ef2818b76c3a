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
    /// `stopped only with tone off`
    Only,
    /// `denied set tone to off`
    Set,
}

impl Wording {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Needs,
        Self::Must,
        Self::Without,
        Self::Only,
        Self::Set,
    ];

    /// The text of a refusal.
    #[must_use]
    pub fn refuse(self, refusal: &Refusal) -> String {
        match refusal {
            Refusal::NeedsCall(tool) => match self {
                Self::Needs => format!("error needs {tool}"),
                Self::Must => format!("refused first {tool}"),
                Self::Without => format!("failed without {tool}"),
                Self::Only => format!("stopped only after {tool}"),
                Self::Set => format!("denied call {tool} before"),
            },
            Refusal::NeedsValue(Setting { parameter, value }) => match self {
                Self::Needs => format!("error needs {parameter} {value}"),
                Self::Must => format!("refused {parameter} must be {value}"),
                Self::Without => format!("failed without {parameter} {value}"),
                Self::Only => format!("stopped only with {parameter} {value}"),
                Self::Set => format!("denied set {parameter} to {value}"),
            },
            Refusal::NeedsResult { parameter, source } => match self {
                Self::Needs => format!("error needs {parameter} from {source}"),
                Self::Must => format!("refused {parameter} comes from {source}"),
                Self::Without => format!("failed without {parameter} from {source}"),
                Self::Only => format!("stopped only with {parameter} from {source}"),
                Self::Set => format!("denied take {parameter} from {source}"),
            },
            Refusal::WrongValue(parameter) => format!("error wrong {parameter}"),
            Refusal::UnknownTool(tool) => format!("error no tool {tool}"),
            Refusal::UnknownParameter { tool, parameter } => {
                format!("error {tool} has no {parameter}")
            }
            Refusal::WrongType {
                parameter,
                number: true,
            } => format!("error {parameter} takes a number"),
            Refusal::WrongType {
                parameter,
                number: false,
            } => format!("error {parameter} takes a word"),
            Refusal::Malformed => "error bad call".to_owned(),
            Refusal::BudgetSpent => "error budget spent".to_owned(),
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
