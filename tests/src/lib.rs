//! What is checked across the crates: their architecture and tidiness, and the figures that are measured.

pub mod figures;
pub mod main_job;
pub mod quickstart;
pub mod source;
