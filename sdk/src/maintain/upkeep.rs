//! The input of the maintenance policies.

use std::ops::Deref;

use super::{BundlePolicy, Maintenance, Overlaps};
use crate::{admit::AdmitPolicy, policy::Context, reward::UsedWhen};

/// The run's context and the policies that maintenance reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upkeep<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) policy: &'a Maintenance,
    pub(crate) admit: &'a AdmitPolicy,
    pub(crate) skill_use: UsedWhen,
    pub(crate) overlaps: &'a Overlaps,
}

impl Upkeep<'_> {
    /// The policy of test bundles, where test cases can be played.
    pub(crate) fn played_bundles(&self) -> Option<&BundlePolicy> {
        self.policy.bundles.as_ref().filter(|_| self.replays)
    }
}

impl<'a> Deref for Upkeep<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}
