//! The policies of the room, for a registry.

use std::sync::Arc;

use super::{MacroPolicy, MicroPolicy, across_tasks::AcrossTasks, overlaps::Overlaps};
use crate::policy::{
    Policies, PolicyOptions,
    named::{checked_options, make},
};

/// Adds the paper's maintenance programs.
pub(crate) fn with_policies(policies: Policies) -> Policies {
    // The runs of a session share the registry, and so the graph.
    let overlaps = Overlaps::default();
    policies
        .with_program(MicroPolicy::NAME, |options| {
            Ok(make::<MicroPolicy>(options)?)
        })
        .with_program(MacroPolicy::NAME, move |options| {
            Ok(Arc::new(AcrossTasks {
                policy: checked_options(options)?,
                overlaps: overlaps.clone(),
            }))
        })
}
