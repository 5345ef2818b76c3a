//! How attempts become credit for skills.

use serde::{Deserialize, Serialize};

use super::CreditPer;
use crate::policy::OwnPolicy;

/// How attempts become credit for skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CreditPolicy {
    /// How many credits a group brings.
    pub per: CreditPer,
    /// Whether a model says what each skill did to each attempt that was given it (HiSME 3.3).
    #[serde(default)]
    pub attribute: bool,
    /// A rule of the host's own in place of `per` ([`CreditRule`](crate::policy::CreditRule)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPolicy>,
}
