//! The input of the maintenance programs.

use std::ops::Deref;

use crate::policy::Context;

/// The run's context, and the options of the maintenance program that reads it.
#[derive(Debug)]
pub(crate) struct MaintenanceContext<'a, P> {
    pub(crate) context: Context<'a>,
    pub(crate) policy: &'a P,
}

impl<'a, P> Deref for MaintenanceContext<'a, P> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}
