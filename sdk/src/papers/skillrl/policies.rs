//! The policies of the room, for a registry.

use super::{BankPolicy, BankSelector};
use crate::policy::{Policies, PolicyOptions, named::make};

/// Adds the paper's selector and its maintenance program.
pub(crate) fn with_policies(policies: Policies) -> Policies {
    policies
        .with_selector(BankSelector::NAME, |options| {
            Ok(make::<BankSelector>(options)?)
        })
        .with_program(BankPolicy::NAME, |options| Ok(make::<BankPolicy>(options)?))
}
