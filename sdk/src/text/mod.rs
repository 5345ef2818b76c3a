//! Text without a model: JSON out of prose, blocks that cannot be closed, secrets out, escapes.

mod block;
mod escape;
mod json;
mod redact;

pub use block::{fenced, skill_block};
pub use escape::{escape_html, plain_terminal};
pub use json::{NoObject, first_object, without_thinking};
pub use redact::Redactor;
