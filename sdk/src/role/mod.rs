//! Roles: a prompt and a parser, each readable and replaceable by the host; and answers in JSON by a schema.

mod structured;
mod summarize;

pub use structured::{Structured, StructuredAnswer};
pub use summarize::{AriseWriter, AriseWriterOptions, read_arise};

#[cfg(test)]
mod tests;
