//! Text processing without a model: extraction of JSON and validation by a schema, prompt blocks that data cannot close,
//! redaction of secrets, removal of terminal escapes, stop texts of a text that is being written, tool calls, words and
//! n-grams.
//!
//! What reads a JSON Schema is there only with the feature `json-schema`: `JsonSchema` and `SchemaFault`, `ToolCalls`, `loosened`.

mod block;
mod brief;
#[cfg(feature = "json-schema")]
mod coerce;
mod escape;
mod hashed;
mod json;
mod lenient;
#[cfg(feature = "json-schema")]
mod loosened;
mod placeholder;
mod published;
mod redact;
#[cfg(feature = "json-schema")]
mod schema;
mod text_stream;
mod thinking;
#[cfg(feature = "json-schema")]
mod tool_calls;
mod words;
mod written_call;

pub(crate) use block::closes_a_block;
pub use block::{fenced, quote_skill_marks, skill_block};
pub(crate) use brief::{actions_in_brief, brief, clipped, shortened};
pub use escape::plain_terminal;
pub(crate) use hashed::{HASHED_DIMENSIONS, hashed_ngrams};
#[cfg(feature = "json-schema")]
pub(crate) use json::first_whole;
pub(crate) use json::{Candidate, Candidates, candidates};
pub use json::{NoObject, first_object};
#[cfg(feature = "json-schema")]
pub use loosened::loosened;
pub use published::{PublishedCalls, published_calls, spelled};
pub(crate) use published::{begins_calls, has_marks, in_channels, message};
pub use redact::Redactor;
#[cfg(feature = "json-schema")]
pub use schema::{JsonSchema, SchemaFault};
pub use text_stream::TextStream;
pub use thinking::without_thinking;
pub(crate) use thinking::{marks_thinking, without_closed_thinking};
#[cfg(feature = "json-schema")]
pub use tool_calls::ToolCalls;
pub(crate) use words::{content_words, is_function_word, ngrams};
pub use written_call::WrittenCall;
pub(crate) use written_call::{checked_call, tool_meant};
