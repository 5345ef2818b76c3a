//! Roles: a prompt and a parser, each readable and replaceable by the host; and answers in JSON by a schema.

mod answers;
mod general;
mod object;
mod shown;
mod structured;
mod summarize;
mod template;

pub use general::{GeneralRoles, RoleOptions};
pub use structured::{Structured, StructuredAnswer};
pub use summarize::read_arise;

#[cfg(test)]
mod tests;
