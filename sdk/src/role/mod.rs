//! Roles: a prompt and a parser, each readable and replaceable by the host.

mod summarize;

pub use summarize::{AriseWriter, AriseWriterOptions, read_arise};
