//! The refresh of the prototypes (SCRIBE 3.2).

use std::num::NonZeroU32;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    domain::{LibraryChange, Role},
    error::Result,
    papers::scribe::{
        AssessBy, AssessPolicy,
        prototypes::{PROTOTYPES, refresh},
    },
    policy::{Ask, MaintenanceProgram, View, named::checked_options},
    stations::maintain::within_budget::may_begin,
};

/// Clusters the assessed subgoals again and distils new prototypes (SCRIBE 3.2).
#[derive(Debug)]
pub(crate) struct Prototypes(AssessPolicy);

impl Prototypes {
    /// The program with the options of the assessor.
    ///
    /// # Errors
    /// `Invalid` for other options.
    pub(crate) fn of(options: &Value) -> Result<Self> {
        let options = checked_options(options);
        options
            .map(Self)
            .map_err(|error| error.with("program", PROTOTYPES))
    }
}

#[async_trait]
impl MaintenanceProgram for Prototypes {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        match may_begin(ask, &view.budget_left(), PROTOTYPES) {
            true => refresh(ask, view, &self.0).await,
            false => Ok(Vec::new()),
        }
    }

    fn roles(&self) -> Vec<Role> {
        match self.0.by {
            AssessBy::Subgoals(_) => vec![Role::DistilPrototype],
            AssessBy::Steps => Vec::new(),
        }
    }

    fn records(&self) -> bool {
        true
    }

    /// A rubric is distilled from attempts that are kept.
    fn kept_attempts(&self, _: NonZeroU32) -> u64 {
        1
    }

    fn reason(&self) -> &'static str {
        "subgoals were clustered and distilled"
    }
}
