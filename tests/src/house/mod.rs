//! The figures of the house: that what was rebuilt does what it did before.

mod same;

use crate::figures::{Figures, Outcome};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    same::run(figures)
}
