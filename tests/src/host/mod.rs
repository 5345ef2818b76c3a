//! The figures of a host's first hour: resumption after kills, learning in the host's own loop, maintenance of large
//! libraries, answers as instruct models give them, a library that is shipped twice, the size of the example.

mod answers;
pub mod child;
mod growth;
pub(crate) mod kills;
mod own_loop;
mod shipped;

use std::fs;

use crate::{
    figures::{Bound, Figures, Outcome},
    source::repository,
};

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    answers::run(figures)?;
    shipped::run(figures)?;
    lines(figures)?;
    kills::run(figures)?;
    own_loop::run(figures)?;
    growth::run(figures)
}

/// The sizes of the example's source files.
fn lines(figures: &mut Figures<'_>) -> Outcome {
    let folder = repository().join("examples/host/src");
    let (mut all, mut longest) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let count = fs::read_to_string(entry?.path())?.lines().count();
        all += count;
        longest = longest.max(count);
    }
    figures.record("lines of examples/host", all as f64, Bound::None);
    figures.record(
        "lines of its longest file",
        longest as f64,
        Bound::Below(100.0),
    );
    Ok(())
}
