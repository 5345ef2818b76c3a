//! Programs: policies that have to ask something, written as straight-line `async fn`s.
//!
//! A program gets an [`Ask`] and nothing else that acts. A question that has an answer is ready at once; one that has none
//! suspends the program, and whoever runs it ([`Program`]) finds the question among the open ones. A program therefore does
//! no input or output and knows no runtime.
//!
//! - *Places.* A question is known by its [`Place`]: the counters of the scopes that it stands in. A place follows from the
//!   text of the program and never from the order in which answers come.
//! - *Saving.* A suspended program is saved as its answers. It is resumed by running it again over them: it has to be
//!   deterministic. One that asks something else the second time fails with the place at which it did.
//! - *Events.* What a program tells comes out in the order of the program, whatever the order of the answers, and is not
//!   told again when the program is resumed.

mod ask;
mod place;
mod running;

pub use ask::{Ask, Dialogue};
pub use place::Place;
pub use running::{Program, Running};

#[cfg(test)]
mod tests;
