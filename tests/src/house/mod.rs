//! The figures of the house: its size and its examples, and that its runs leave the same bytes as before the rebuilding.

mod counted;
mod same;

use crate::figures::{Figures, Outcome};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    counted::run(figures)?;
    same::run(figures)
}
