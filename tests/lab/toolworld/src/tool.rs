//! Tools, their hidden contracts, and skills about them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The slot of an argument that keeps its default.
pub const DEFAULT_SLOT: &str = "#";
/// The slot of a skill for a value that the task gives.
pub const TASK_SLOT: &str = "$";
/// The slot of a skill for the value that the latest result gave.
pub const RESULT_SLOT: &str = "@";

/// The noun in the title of a skill that applies to every tool of its verb.
pub const ANY_NOUN: &str = "any";

/// A tool's name: a verb and a noun.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolName {
    /// The action.
    pub verb: String,
    /// The object of the action.
    pub noun: String,
}

impl ToolName {
    /// A name of two words.
    #[must_use]
    pub fn new(verb: &str, noun: &str) -> Self {
        Self {
            verb: verb.to_owned(),
            noun: noun.to_owned(),
        }
    }

    /// Reads a name from the first two words of a line.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        Some(Self::new(words.next()?, words.next()?))
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.verb, self.noun)
    }
}

/// The name of a tool in definitions and calls.
#[must_use]
pub fn wire_name(name: &ToolName) -> String {
    format!("{}_{}", name.verb, name.noun)
}

/// A tool as a task shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Verb and noun.
    pub name: ToolName,
    /// The parameters, in the order of the usage line. Their names fix their types ([`crate::lexicon::kind_of`]).
    pub parameters: Vec<String>,
}

impl Tool {
    /// The usage line: the name, then each parameter with an open slot.
    #[must_use]
    pub fn usage(&self) -> String {
        self.call(|_| None)
    }

    /// A command line in which each parameter has the value that `value_of` returns, or an open slot.
    #[must_use]
    pub fn call<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> String {
        let mut line = self.name.to_string();
        for parameter in &self.parameters {
            let value = value_of(parameter).unwrap_or(DEFAULT_SLOT);
            line.push_str(&format!(" {parameter} {value}"));
        }
        line
    }
}

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The parameter's name.
    pub parameter: String,
    /// Its value, as written.
    pub value: String,
}

/// A demand of a service that neither the task nor the usage line states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Demand {
    /// Another call must have been made.
    Before(ToolName),
    /// A parameter must have exactly this value.
    Exact(Setting),
    /// A parameter must have the value that a call of `source` gives.
    Carried {
        /// The parameter of the target.
        parameter: String,
        /// The tool whose result holds the value.
        source: ToolName,
    },
}

impl Demand {
    /// The tool that has to be called first, when there is one.
    #[must_use]
    pub fn helper(&self) -> Option<&ToolName> {
        match self {
            Self::Before(name) | Self::Carried { source: name, .. } => Some(name),
            Self::Exact(_) => None,
        }
    }

    /// The parameter that it sets, when there is one.
    #[must_use]
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::Before(_) => None,
            Self::Exact(setting) => Some(&setting.parameter),
            Self::Carried { parameter, .. } => Some(parameter),
        }
    }

    /// Whether both demands have the same form, so that one can replace the other when a service changes.
    #[must_use]
    pub fn same_form(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// A tool with its demands, in the order in which it checks them. Without demands it is a plain tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The visible part.
    pub tool: Tool,
    /// The hidden demands.
    pub contract: Vec<Demand>,
}

impl Service {
    /// A tool without hidden demands.
    #[must_use]
    pub fn plain(tool: Tool) -> Self {
        Self {
            tool,
            contract: Vec::new(),
        }
    }

    /// Whether it has hidden demands.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        !self.contract.is_empty()
    }
}

/// A step list for one tool, as command lines of the world.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SkillText {
    /// The tool it is about.
    pub title: ToolName,
    /// Command lines with slots; the last one calls the tool itself.
    pub steps: Vec<String>,
}

impl SkillText {
    /// The skill that fulfills a service's contract, for tasks that give the parameters `given`.
    #[must_use]
    pub fn of(service: &Service, given: &[String]) -> Self {
        let mut steps: Vec<String> = service
            .contract
            .iter()
            .filter_map(Demand::helper)
            .map(ToString::to_string)
            .collect();
        steps.push(service.tool.call(|parameter| {
            if given.iter().any(|name| name == parameter) {
                return Some(TASK_SLOT);
            }
            service
                .contract
                .iter()
                .find(|demand| demand.parameter() == Some(parameter))
                .map(|demand| match demand {
                    Demand::Exact(setting) => setting.value.as_str(),
                    Demand::Before(_) | Demand::Carried { .. } => RESULT_SLOT,
                })
        }));
        Self {
            title: service.tool.name.clone(),
            steps,
        }
    }
}
