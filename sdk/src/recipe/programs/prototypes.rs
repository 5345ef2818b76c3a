//! The refresh of the prototypes (SCRIBE 3.2).

use async_trait::async_trait;

use super::within_budget::may_begin;
use crate::{
    domain::{LibraryChange, Role},
    error::Result,
    policy::{Ask, MaintenanceProgram, View},
    stations::assess::{AssessBy, AssessPolicy, prototypes::refresh},
};

/// Clusters the assessed subgoals again and distils new prototypes (SCRIBE 3.2).
#[derive(Debug)]
pub(super) struct Prototypes(pub(super) AssessPolicy);

#[async_trait]
impl MaintenanceProgram for Prototypes {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        match may_begin(ask, &view.budget_left(), "prototypes") {
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

    fn reason(&self) -> &'static str {
        "subgoals were clustered and distilled"
    }
}
