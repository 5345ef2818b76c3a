//! Passing demands: demands that a service makes in a single task only. One attempt cannot tell them from the lasting
//! contract.

use serde::{Deserialize, Serialize};

/// The kind of a passing demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassingKind {
    /// A call that must come first.
    Call,
    /// A value that must come from an earlier result.
    Value,
}

/// How often tasks of a stream have a passing demand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Passing {
    /// The share of the stream's tasks with a passing demand, from 0 to 1. Held-out tasks have none.
    pub share: f64,
    /// The kind of passing demands; no lasting contract of the universe then has a demand of this kind. `None`: both
    /// kinds.
    pub kind: Option<PassingKind>,
}
