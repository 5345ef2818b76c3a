//! The options of credit.

use serde::{Deserialize, Serialize};

use super::CreditPer;

/// How the attempts of a group become credit for skills.
///
/// ```
/// use journeyman::{
///     credit::{CreditPer, CreditPolicy},
///     recipe,
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.credit = CreditPolicy { per: CreditPer::Rollout, attribute: true };
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreditPolicy {
    /// How many credits a skill gets from a group.
    pub per: CreditPer,
    /// Whether a model judges what each skill did in each attempt that was given it: helpful, harmful, neutral or uncertain
    /// (HiSME 3.3).
    #[serde(default)]
    pub attribute: bool,
}
