//! The measurement of information gains (ARISE D.3).

use async_trait::async_trait;

use crate::{
    domain::LibraryChange,
    error::Result,
    policy::{Ask, MaintenanceProgram, View},
    stations::measure::gain,
};

/// Measures the skills' information gain (ARISE D.3). The measurement decides nothing.
#[derive(Debug)]
pub(super) struct Gains;

#[async_trait]
impl MaintenanceProgram for Gains {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        Ok(gain::measure(ask, &view.context()).await)
    }

    fn records(&self) -> bool {
        true
    }

    fn reason(&self) -> &'static str {
        "the gain of skills was measured"
    }
}
