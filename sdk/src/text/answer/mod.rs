//! Reading of a language model's answers: thoughts, JSON, and tool calls in the forms that families of models write.

#[cfg(feature = "json-schema")]
mod coerce;
mod json;
mod lenient;
mod published;
mod text_stream;
mod thinking;
#[cfg(feature = "json-schema")]
mod tool_calls;
mod written_call;

#[cfg(feature = "json-schema")]
pub(crate) use json::first_whole;
pub(crate) use json::{Candidate, Candidates, candidates};
pub use json::{NoObject, first_object};
pub use published::{PublishedCalls, published_calls, spelled};
pub(crate) use published::{begins_calls, has_marks, in_channels, message};
pub use text_stream::TextStream;
pub use thinking::without_thinking;
pub(crate) use thinking::{marks_thinking, without_closed_thinking};
#[cfg(feature = "json-schema")]
pub use tool_calls::ToolCalls;
pub use written_call::WrittenCall;
pub(crate) use written_call::{checked_call, tool_meant};
