//! What the quickstart shows, as a library, so that the measured figures run the same code.

mod choice;
mod folders;
mod parts;
mod stream;
mod summary;
mod way;

pub use choice::{Choice, selector};
pub use folders::write_folders;
pub use parts::{Parts, compact_model, default_model};
pub use stream::{Split, Tasks};
pub use summary::{Summaries, Summary};
pub use way::Way;
