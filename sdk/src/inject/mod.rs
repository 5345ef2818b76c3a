//! Injection: how skills are written into a prompt, and how much of it they may take. A library of any size fits: a
//! prompt shows names and descriptions ([`list`]), and whole skills on demand ([`render`], [`fit`]).

mod budget;
mod listing;
mod render;

pub use budget::fit;
pub use listing::{Listing, list};
pub use render::render;
