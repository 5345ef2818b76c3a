//! What models and servers really write: the calls of each family in its own form, and answers that were damaged.

mod damaged;
mod families;
mod kinds;
mod templates;

pub use damaged::{Outcome as DamagedOutcome, read_damaged};
pub use families::{FAMILIES, Family, read_family};

use crate::figures::{Bound, Figures, Outcome};

/// Damaged answers of a run.
const DAMAGED: u64 = 100_000;
/// The longest time that one answer may take to be read, in milliseconds.
const SLOW: f64 = 1_000.0;

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let right = |is_native: bool| {
        let read = FAMILIES
            .iter()
            .filter(|family| read_family(family, is_native));
        read.count() as f64
    };
    kinds::record(figures)?;
    let all = FAMILIES.len() as f64;
    figures.record(
        "families of models whose calls are known",
        all,
        Bound::AtLeast(40.0),
    );
    for (name, is_native) in [
        (
            "families whose calls are read back, model with an interface for tools",
            true,
        ),
        (
            "families whose calls are read back, model without one",
            false,
        ),
    ] {
        figures.record(name, right(is_native), Bound::AtLeast(all));
    }
    let found: DamagedOutcome = figures.once("damaged answers", || {
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(read_damaged(seed, DAMAGED))
    })?;
    figures.record(
        "damaged answers that were read",
        found.answers as f64,
        Bound::AtLeast(DAMAGED as f64),
    );
    figures.record(
        "damaged answers: panics",
        found.panics as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "damaged answers: an error of the prompt format where it could have asked again",
        found.faults as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "damaged answers: the longest time to read one, milliseconds",
        found.slowest,
        Bound::AtMost(SLOW),
    );
    figures.record(
        "damaged answers: read as an action, %",
        found.acted,
        Bound::None,
    );
    figures.record(
        "damaged answers: asked for again, %",
        found.asked,
        Bound::None,
    );
    templates::record(figures)
}
