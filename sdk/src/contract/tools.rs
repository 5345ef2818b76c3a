//! Tool calls by a model's own interface.

use serde::{Deserialize, Serialize};

use crate::domain::ToolCall;

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
    /// At least one tool is called.
    Required,
    /// The tool with this name is called.
    Named(String),
}

/// A tool call that a model made by its own interface.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NativeCall {
    /// The id that the model or its server gave the call; empty where it gives none.
    pub id: String,
    /// The tool and its arguments, which obey the tool's schema.
    pub call: ToolCall,
}

impl NativeCall {
    /// A call with its id.
    pub fn new(id: impl Into<String>, call: ToolCall) -> Self {
        Self {
            id: id.into(),
            call,
        }
    }
}
