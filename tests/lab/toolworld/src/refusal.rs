//! Why services refuse calls, and the texts of their refusals.

use serde::{Deserialize, Serialize};

use crate::tool::{Setting, ToolName};

/// Why a call was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Another call has to come first.
    NeedsCall(ToolName),
    /// A parameter has to have this value.
    NeedsValue(Setting),
    /// A parameter has to have the value that a call of `source` gives.
    NeedsResult {
        /// The parameter.
        parameter: String,
        /// The tool whose result holds its value.
        source: ToolName,
    },
    /// A parameter has another value than the task gives.
    WrongValue(String),
    /// No visible tool has this name.
    UnknownTool(ToolName),
    /// The tool has no such parameter.
    UnknownParameter {
        /// The tool that was called.
        tool: ToolName,
        /// The parameter that the tool does not have.
        parameter: String,
    },
    /// The value is of the wrong type.
    WrongType {
        /// The parameter.
        parameter: String,
        /// Whether the parameter takes a number.
        number: bool,
    },
    /// The line is not a command: it has fewer than two words, or a parameter without a value.
    Malformed,
}

/// How the services of a world word their refusals. Each wording names what is missing in words that a call can copy.
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
        }
    }
}
