//! The figures of the adapters: Journeyman beside its users' embedding models, servers, environments and tools.

mod bfcl;
mod external;
mod mcp;
mod retrieval;
mod runs;
mod suites;

use crate::figures::{Figures, Outcome};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    bfcl::run(figures)?;
    mcp::run(figures)?;
    runs::run(figures)?;
    retrieval::run(figures)?;
    suites::run(figures)
}
