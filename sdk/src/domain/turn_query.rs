//! The query of a turn.

use serde::{Deserialize, Serialize};

/// A turn's query: its text, and the tools in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnQuery {
    /// The current request, then the latest refusals, then the agent's last message.
    pub text: String,
    /// The names of the tools in force.
    pub tools: Vec<String>,
}
