//! Text processing without a model: extraction of JSON and validation by a schema, prompt blocks that data cannot close,
//! redaction of secrets, removal of terminal escapes, stop texts of a text that is being written, tool calls, words and
//! n-grams.
//!
//! What reads a language model's answer is there only with the feature `language-model`: `first_object`, `published_calls`, `spelled`,
//! `TextStream`, `without_thinking`, `WrittenCall`. What reads a JSON Schema is there only with the feature `json-schema`: `JsonSchema` and
//! `SchemaFault`, `ToolCalls`, `loosened`.

#[cfg(feature = "language-model")]
mod answer;
mod block;
mod brief;
mod escape;
mod hashed;
#[cfg(feature = "json-schema")]
mod loosened;
mod placeholder;
mod redact;
#[cfg(feature = "json-schema")]
mod schema;
mod words;

#[cfg(feature = "json-schema")]
pub use answer::ToolCalls;
#[cfg(feature = "json-schema")]
pub(crate) use answer::first_whole;
#[cfg(feature = "language-model")]
pub(crate) use answer::{
    Candidate, Candidates, begins_calls, candidates, checked_call, has_marks, in_channels,
    marks_thinking, message, tool_meant, without_closed_thinking,
};
#[cfg(feature = "language-model")]
pub use answer::{
    NoObject, PublishedCalls, TextStream, WrittenCall, first_object, published_calls, spelled,
    without_thinking,
};
pub(crate) use block::closes_a_block;
pub use block::{fenced, quote_skill_marks, skill_block};
pub(crate) use brief::{actions_in_brief, brief, clipped, shortened};
pub use escape::plain_terminal;
pub(crate) use hashed::{HASHED_DIMENSIONS, hashed_ngrams};
#[cfg(feature = "json-schema")]
pub use loosened::loosened;
pub use redact::Redactor;
#[cfg(feature = "json-schema")]
pub use schema::{JsonSchema, SchemaFault};
pub(crate) use words::{content_words, is_function_word, ngrams};
