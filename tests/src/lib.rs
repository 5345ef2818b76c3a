//! What is checked across the crates: their architecture and tidiness, and the figures that are measured.

pub mod apprentice;
pub mod engine;
pub mod figures;
pub mod library;
pub mod main_job;
pub mod quickstart;
pub mod source;

/// The samples of the README, so that they compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
