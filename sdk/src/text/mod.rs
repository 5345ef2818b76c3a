//! Text processing without a model: extraction of JSON and validation by a schema, prompt blocks that data cannot close,
//! redaction of secrets, removal of terminal escapes, stop texts of a text that is being written, tool calls, words and
//! n-grams.

mod block;
mod brief;
mod coerce;
mod escape;
mod hashed;
mod json;
mod lenient;
mod loosened;
mod placeholder;
mod published;
mod redact;
mod redact_json;
mod schema;
mod text_stream;
mod thinking;
mod tool_calls;
mod words;

pub(crate) use block::closes_a_block;
pub use block::{fenced, quote_skill_marks, skill_block};
pub(crate) use brief::{actions_in_brief, brief, clipped, shortened};
pub use escape::plain_terminal;
pub(crate) use hashed::{HASHED_DIMENSIONS, hashed_ngrams};
pub(crate) use json::{Candidate, Candidates, candidates, first_whole};
pub use json::{NoObject, first_object};
pub use loosened::loosened;
pub use published::{PublishedCalls, published_calls, spelled};
pub(crate) use published::{begins_calls, has_marks, in_channels, message};
pub use redact::Redactor;
pub use schema::{JsonSchema, SchemaFault};
pub use text_stream::TextStream;
pub use thinking::without_thinking;
pub(crate) use thinking::{marks_thinking, without_closed_thinking};
pub use tool_calls::{ToolCalls, WrittenCall};
pub(crate) use tool_calls::{checked_call, tool_meant};
pub(crate) use words::{content_words, is_function_word, ngrams};
