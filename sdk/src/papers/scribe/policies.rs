//! The policies of the room, for a registry.

use std::sync::Arc;

use super::{AssessPolicy, ProcessReward, prototypes::PROTOTYPES, upkeep::Prototypes};
use crate::policy::{Policies, PolicyOptions, named::make};

/// Adds the paper's assessor with the program that refreshes its prototypes, and its reward rule.
pub(crate) fn with_policies(policies: Policies) -> Policies {
    policies
        .with_assessor(AssessPolicy::NAME, |options| {
            Ok(make::<AssessPolicy>(options)?)
        })
        .with_reward(ProcessReward::NAME, |options| {
            Ok(make::<ProcessReward>(options)?)
        })
        .with_program(PROTOTYPES, |options| Ok(Arc::new(Prototypes::of(options)?)))
}
