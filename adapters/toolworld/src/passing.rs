//! Demands that pass: what a service wants this once, and what a single attempt therefore cannot tell from its contract.

use serde::{Deserialize, Serialize};

/// What a passing demand is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassingKind {
    /// A call that must come first.
    Call,
    /// A value that must come from an earlier result.
    Value,
}

/// How often the services of a stream demand something this once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Passing {
    /// The share of the stream's tasks in which they do, from 0 to 1. Held-out tasks have none.
    pub share: f64,
    /// What it is about; then no lasting contract of the universe demands such a thing. Either, where none is given.
    pub kind: Option<PassingKind>,
}
