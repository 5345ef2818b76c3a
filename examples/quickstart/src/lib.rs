//! What the quickstart shows, as a library, so that the measured figures run the same code.

mod choice;
pub mod defaults;
mod folders;
mod parts;
pub mod spoken;
mod stream;
mod summary;

pub use choice::{Choice, standard};
pub use folders::write_folders;
pub use parts::{Parts, default_model};
pub use stream::{Split, Tasks};
pub use summary::{Summaries, Summary};
