//! The options of credit.

use serde::{Deserialize, Serialize};

use super::CreditPer;
use crate::policy::OwnPolicy;

/// How the attempts of a group become credit for skills.
///
/// ```
/// use journeyman::{
///     credit::{CreditPer, CreditPolicy},
///     recipe,
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.credit = CreditPolicy { per: CreditPer::Rollout, attribute: true, own: None };
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CreditPolicy {
    /// How many credits a skill gets from a group.
    pub per: CreditPer,
    /// Whether a model judges what each skill did in each attempt that was given it: helpful, harmful, neutral or uncertain
    /// (HiSME 3.3).
    #[serde(default)]
    pub attribute: bool,
    /// A rule of the host's own in place of `per` ([`CreditRule`](crate::policy::CreditRule)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnPolicy>,
}
