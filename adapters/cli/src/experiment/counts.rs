//! How many tasks and checkpoints a cell has.

use journeyman::Result;
use toml::Spanned;

use crate::toml_file::Source;

/// Keys that stand beside `tasks`, and stood in [world] before there were worlds of the user's own.
pub(super) const PLAN_KEYS: [&str; 4] = ["stream", "held_out", "checkpoints", "steps"];

/// How many tasks and checkpoints a cell has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) stream: usize,
    pub(super) held_out: usize,
    pub(super) checkpoints: usize,
}

impl Counts {
    pub(super) fn read(
        source: &Source<'_>,
        stream: &Option<Spanned<usize>>,
        held_out: &Option<Spanned<usize>>,
        checkpoints: &Option<Spanned<usize>>,
    ) -> Result<Self> {
        let stream = count(source, stream, 48, 1_000_000)?;
        Ok(Self {
            stream,
            held_out: count(source, held_out, 48, 1_000_000)?,
            // At most one after each task.
            checkpoints: count(source, checkpoints, 4, stream)?,
        })
    }
}

/// A number from 1 to `most`.
pub(super) fn count(
    source: &Source<'_>,
    given: &Option<Spanned<usize>>,
    default: usize,
    most: usize,
) -> Result<usize> {
    match given {
        None => Ok(default.min(most)),
        Some(given) if (1..=most).contains(given.get_ref()) => Ok(*given.get_ref()),
        Some(given) => {
            let message = "the number is out of range";
            Err(source.refused(given.span(), message, format!("take 1 to {most}")))
        }
    }
}
