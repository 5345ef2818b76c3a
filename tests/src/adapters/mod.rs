//! The figures of the adapters: Journeyman beside its users' embedding models, servers, environments and tools.

mod retrieval;

use crate::figures::{Figures, Outcome};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    retrieval::run(figures)
}
