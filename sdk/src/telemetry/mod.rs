//! Spans and events of a run's work, by the names of OpenTelemetry's conventions for generative AI; `docs/reference/events.md` lists them.
//!
//! They are `tracing`'s. A host that sets no subscriber pays nothing; one that sets `tracing-opentelemetry`'s layer sends them on.
//! Texts of prompts, answers and tools are in them only where the host asks for it, and redacted.

mod events;
mod number;
mod spans;

pub(crate) use events::{happened, judged};
pub(crate) use number::int;
pub(crate) use spans::{
    Chat, ToolCalls, agent, commit, compacted, embeddings, failed, finished, information_gain,
    judgement, read, retrieval, role, run, score, used,
};
