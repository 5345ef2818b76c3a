//! Learning or evaluation.

use serde::{Deserialize, Serialize};

/// Whether a run learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It explores.
    #[default]
    Train,
    /// It never does: epsilon is 0 (A.3).
    Evaluate,
}
