//! The input of the maintenance policies.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::{BundlePolicy, Maintenance};
use crate::{
    policy::Context,
    stations::{admit::AdmitPolicy, reward::UsedWhen},
};

/// What maintenance reads of a recipe: the options of its programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MaintenanceOptions {
    pub(crate) policy: Maintenance,
    pub(crate) admit: AdmitPolicy,
    pub(crate) skill_use: UsedWhen,
}

impl MaintenanceOptions {
    /// The input of maintenance.
    pub(crate) fn maintenance_context<'a>(
        &'a self,
        context: Context<'a>,
    ) -> MaintenanceContext<'a> {
        MaintenanceContext {
            context,
            policy: &self.policy,
            admit: &self.admit,
            skill_use: self.skill_use,
        }
    }
}

/// The run's context and the policies that maintenance reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaintenanceContext<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) policy: &'a Maintenance,
    pub(crate) admit: &'a AdmitPolicy,
    pub(crate) skill_use: UsedWhen,
}

impl MaintenanceContext<'_> {
    /// The policy of test bundles, where test cases can be played.
    pub(crate) fn played_bundles(&self) -> Option<&BundlePolicy> {
        self.policy.bundles.as_ref().filter(|_| self.replays)
    }
}

impl<'a> Deref for MaintenanceContext<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}
