//! Text without a model: JSON out of prose and against a schema, blocks that cannot be closed, secrets out, escapes,
//! words.

mod block;
mod escape;
mod json;
mod redact;
mod schema;
mod words;

pub(crate) use block::closes_a_block;
pub use block::{fenced, quote_skill_marks, skill_block};
pub use escape::{escape_html, plain_terminal};
pub(crate) use json::first_whole;
pub use json::{NoObject, first_object, without_thinking};
pub use redact::Redactor;
pub use schema::{JsonSchema, SchemaFault};
pub(crate) use words::{content_words, ngrams};
