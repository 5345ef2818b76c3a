//! Text without a model: JSON out of prose, clipping, similarity.

mod block;
mod json;
mod redact;

pub use block::{fenced, skill_block};
pub use json::{NoObject, first_object, without_thinking};
pub use redact::Redactor;
