//! Programs: policies that ask questions, written as straight-line `async fn`s.
//!
//! A program acts only through its [`Ask`]. Awaiting a question that has an answer completes at once; awaiting one without
//! an answer suspends the program, and the caller reads the open questions from [`Program`]. A program therefore does no
//! input or output and needs no async runtime.
//!
//! - *Places.* A question is identified by its [`QuestionPath`]: the counters of the scopes that contain it. A place depends on the
//!   program's control flow and never on the order in which answers arrive.
//! - *Saving.* A suspended program is saved as its answers. To resume it, the program is run again over these answers, so it
//!   has to be deterministic. A program that asks a different question on the second run fails with the question's place.
//! - *Events.* Events are emitted in program order and do not depend on the order of the answers. A resumed program does not
//!   repeat the events that were already taken.

mod running;

pub use running::QuestionPath;
pub use running::{Ask, Dialogue};
pub use running::{Program, Running};

#[cfg(test)]
mod tests;
