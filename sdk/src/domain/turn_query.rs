//! The query of a turn.

use serde::{Deserialize, Serialize};

use crate::id::Category;

/// A turn's query: its text, the tools in force, and the task's category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnQuery {
    /// The current request, then the latest refusals, then the agent's last message and the tools of earlier turns.
    pub text: String,
    /// The names of the tools in force.
    pub tools: Vec<String>,
    /// The category of the task, as the host gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
}
