//! What a recipe takes from the papers that this build has: their policies, and the gate behind a selector of theirs.

use crate::{
    error::Result,
    policy::{Policies, Policy},
    stations::select::GatePolicy,
};

#[cfg(feature = "skillrl")]
use crate::papers::skillrl::BankSelector;

pub(crate) fn with_policies(policies: Policies) -> Policies {
    #[cfg(feature = "arise")]
    let policies = crate::papers::arise::policies::with_policies(policies);
    #[cfg(feature = "hisme")]
    let policies = crate::papers::hisme::policies::with_policies(policies);
    #[cfg(feature = "scribe")]
    let policies = crate::papers::scribe::policies::with_policies(policies);
    #[cfg(feature = "skillrl")]
    let policies = crate::papers::skillrl::policies::with_policies(policies);
    policies
}

/// The gate behind a paper's selector; `None` for one without, and for another selector.
pub(crate) fn gate(selector: &Policy) -> Result<Option<GatePolicy>> {
    #[cfg(feature = "skillrl")]
    if let Some(bank) = selector.read::<BankSelector>()? {
        return Ok(bank.gate.map(|gate| gate.policy));
    }
    let _ = selector;
    Ok(None)
}

/// Replaces the gate behind a paper's selector, where it has one. Returns whether it has.
pub(crate) fn set_gate(selector: &mut Policy, gate: GatePolicy) -> Result<bool> {
    #[cfg(feature = "skillrl")]
    if let Some(mut bank) = selector.read::<BankSelector>()?
        && let Some(behind) = &mut bank.gate
    {
        behind.policy = gate;
        *selector = bank.into();
        return Ok(true);
    }
    let _ = (selector, gate);
    Ok(false)
}
