//! The gate that is in force: the recipe's, or the same with a threshold that was fitted to the model.

use super::GatePolicy;
use crate::{
    domain::{DecidedOn, FittedThreshold, NothingReason},
    policy::Ask,
};

/// The policy by which candidates are decided, and the threshold in it, if the session fitted that to the model.
///
/// # Errors
/// The reason why nothing may be injected: there is no threshold for this model.
pub(super) async fn in_force(
    ask: &mut Ask,
    policy: &GatePolicy,
    on: DecidedOn,
) -> Result<(GatePolicy, Option<FittedThreshold>), NothingReason> {
    let Some(most_wrong) = policy.to_fit() else {
        return Ok((policy.clone(), None));
    };
    match ask.threshold(most_wrong, on).await {
        Ok(None) => Ok((policy.clone(), None)),
        Ok(Some(fitted)) => {
            let policy = GatePolicy {
                score: fitted.score,
                absolute: Some(fitted.threshold),
                found: fitted.found,
                ..policy.clone()
            };
            Ok((policy, Some(fitted)))
        }
        Err(error) => Err(NothingReason::Uncalibrated(error.to_string())),
    }
}
