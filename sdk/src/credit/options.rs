//! How attempts become credit for skills.

use serde::{Deserialize, Serialize};

use super::CreditPer;

/// How attempts become credit for skills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreditPolicy {
    /// How many credits a group brings.
    pub per: CreditPer,
    /// Whether a model says what each skill did to each attempt that was given it (HiSME 3.3).
    #[serde(default)]
    pub attribute: bool,
}
