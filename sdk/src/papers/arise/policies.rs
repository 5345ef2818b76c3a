//! The policies of the room, for a registry.

use super::GainsPolicy;
use crate::policy::{Policies, PolicyOptions, named::make};

/// Adds the paper's maintenance program.
pub(crate) fn with_policies(policies: Policies) -> Policies {
    policies.with_program(GainsPolicy::NAME, |options| {
        Ok(make::<GainsPolicy>(options)?)
    })
}
