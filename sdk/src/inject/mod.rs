//! Injection: writes a skill as prompt text ([`render`]) and keeps the texts within a token budget ([`fit`]).

mod budget;
mod render;

pub use budget::fit;
pub use render::render;
