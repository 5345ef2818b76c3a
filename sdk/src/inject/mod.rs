//! Injection: how skills are written into a prompt ([`render`]), and how much of it they may take ([`fit`]).

mod budget;
mod render;

pub use budget::fit;
pub use render::render;
