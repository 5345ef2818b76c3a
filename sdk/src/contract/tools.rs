//! Tool calls by a model's own interface.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which of a request's tools a model calls.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides whether it calls tools or writes a text.
    #[default]
    Auto,
    /// No tool is called, though the model sees them.
    None,
    /// At least one tool is called. An adapter may hold the answer to one call.
    Required,
    /// The tool with this name is called.
    Named(String),
}

impl fmt::Display for ToolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("any tool or none"),
            Self::None => f.write_str("no tool"),
            Self::Required => f.write_str("one tool at least"),
            Self::Named(name) => write!(f, "the tool `{name}`"),
        }
    }
}
