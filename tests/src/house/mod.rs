//! The figures of the house: its size and its examples, and that its runs leave the same bytes as before the rebuilding.

mod counted;
mod engine_words;
mod plain_host;
mod same;
mod size;

use crate::{
    figures::{Figures, Outcome},
    source::{blank_tests, mask},
};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    counted::run(figures)?;
    size::run(figures)?;
    plain_host::run(figures)?;
    same::run(figures)
}

/// Whether a file below `src` holds tests alone.
fn is_test_file(path: &str) -> bool {
    path.split('/')
        .any(|part| matches!(part, "tests" | "tests.rs"))
}

/// The lines of a source without its tests.
fn production_lines(text: &str) -> usize {
    let (_, tests) = blank_tests(&mask(text));
    text.lines().count().saturating_sub(tests)
}
