//! Learning or evaluation.

use serde::{Deserialize, Serialize};

/// Whether a run learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The gate may explore, but for attempts that a host begins
    /// ([`Options::explore_live`](crate::run::Options::explore_live)).
    #[default]
    Train,
    /// The gate never explores: epsilon is 0 (A.3).
    Evaluate,
}
