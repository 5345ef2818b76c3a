//! The figures of the adapters: Journeyman beside its users' embedding models, servers, environments and tools.

mod bfcl;
pub(crate) mod external;
mod mcp;
pub(crate) mod openai;
pub(crate) mod retrieval;
pub(crate) mod runs;
mod suites;
mod telemetry;

use crate::figures::{Figures, Outcome};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    bfcl::run(figures)?;
    mcp::run(figures)?;
    telemetry::run(figures)?;
    retrieval::run(figures)?;
    suites::run(figures)?;
    runs::run(figures)?;
    openai::figures(figures)
}
