//! Whether a skill helps: chosen skills are left out by chance, and what attempts do with and without them is compared in ways that
//! hold whenever one looks.
//!
//! Ten tasks were done with a skill and three of ten without it: is it the skill, or luck? A recipe that
//! [withholds](crate::stations::select::SelectPolicy::withhold) each chosen skill from a share of tasks makes the two comparable:
//! chance alone decided which is which. All attempts at a task are drawn together and count as one outcome, their mean: attempts at
//! one task are too alike to count as several. [`Lifts`] reads the library's record of them: for each skill, and for the library as a whole,
//! the difference with an [`Interval`] that may be looked at after each task, and a [verdict](LiftVerdict) that says "helps",
//! "harms" or "not yet". Over all skills together at most a stated share of these verdicts is false in the mean ([`discoveries`]).
//!
//! A change is compared with what was before on the same tasks ([`Comparison`]): better, worse, no difference that matters, or
//! not yet. [`ProvenRelease`] releases skills so.
//!
//! | what | holds because | source |
//! | --- | --- | --- |
//! | [`Effect`] of outcomes in [0, 1] | chance gives with a known probability, so that a bet on what outcome and gift have in common is fair | Turner, Ly and Grünwald 2024 |
//! | [`Comparison`] of pairs | so is the wealth of one who bets against a claim that is true | Waudby-Smith and Ramdas 2023 |
//! | [`discoveries`] | e-values need no independence | Wang and Ramdas 2022 |

mod contributions;
mod discoveries;
mod effect;
mod lengths;
mod lift_watch;
mod lifts;
mod neighbours;
mod paired;
mod release;
mod withheld;

pub(crate) use contributions::contributions;
pub use discoveries::discoveries;
pub use effect::{Arm, Effect, EvidenceAbove, Interval};
pub(crate) use lift_watch::LiftWatch;
pub use lifts::{Amount, Lift, LiftOf, LiftPolicy, LiftVerdict, Lifts};
pub use paired::{ComparePolicy, Comparison, Conclusion};
pub use release::ProvenRelease;
pub(crate) use release::{Trial, compared};

pub use crate::domain::{Assignment, Withhold};

use crate::error::{Error, Result};

/// Why an attempt says nothing that had to be the same twice.
const NOT_REPEATED: &str = "the same attempt scored otherwise when it was made again: the environment is not as deterministic as it says";

/// Checks an option.
///
/// # Errors
/// `Invalid`, naming the field, its value and its range.
fn check(
    operation: &'static str,
    holds: bool,
    (field, value): (&str, f64),
    range: &str,
) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::invalid(
            operation,
            format!("{field} must be {range}, and is {value}"),
        )
        .hint("take 0.05 for 5%, and a margin in the unit of the score, such as 0.02")),
    }
}
