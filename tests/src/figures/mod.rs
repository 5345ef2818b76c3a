//! The frame of the measured figures: `bash tests/figures.sh NAME [--seed N] [--data DIR] [--resume]`.
//!
//! A [`Group`] is a function that measures and records. Each figure goes out as one line,
//! `name, value, bound, ok|short`; progress goes to the error stream. What a group computes by
//! [`Figures::once`] is saved when it is done, with the hash of the program that computed it, so a run that was killed goes on
//! where it was with `--resume`; results of another program are computed again.

pub(crate) mod code;
mod command;
mod groups;
mod median;
mod options;
mod recalled;
mod recorder;
mod saved;
pub mod stats;
mod worlds;

pub use command::run;
pub use groups::{Group, groups};
pub use options::{Options, Wanted};
pub use recalled::recalling;
pub use recorder::{Bound, Figures};
pub(crate) use worlds::{attempted, bounded, difference, key, spread};

/// What a group gives back: an error when it could not measure, which is another thing than a figure that is short.
pub type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;
