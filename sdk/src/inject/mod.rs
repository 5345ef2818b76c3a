//! Injection: how a skill is written into a prompt.

mod render;

pub use render::render;
