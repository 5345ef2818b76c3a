//! Implementations of contracts that need no other crate: a store and a journal in memory, a frozen store, a store for one
//! rollout, a journal of JSON lines, a judge that reads the environment's outcome, and an agent whose attempts the host sees.
//!
//! With the feature `language-model` also an agent driven by a language model, a model with an adapter (LoRA), a prompt format for
//! instruct models, and the roles; with `embeddings` retrieval by embeddings, by words and embeddings together, and an embedder without
//! a model; with `threads` a wrapper that runs blocking parts on threads; with `system-clock` a clock; and with `json-schema`
//! `FnEnvironment`, an environment of a list of tools and a function.

#[cfg(feature = "language-model")]
mod adapted_model;
#[cfg(feature = "language-model")]
mod chat_format;
mod environment_judge;
#[cfg(feature = "json-schema")]
mod fn_environment;
mod fork_store;
mod frozen_store;
#[cfg(feature = "embeddings")]
mod hashed_embedder;
#[cfg(feature = "embeddings")]
mod hybrid_retriever;
mod json_lines_journal;
mod memory_journal;
mod memory_store;
#[cfg(feature = "language-model")]
mod model_executor;
mod observed_executor;
#[cfg(feature = "threads")]
mod on_thread;
#[cfg(feature = "language-model")]
mod one_model;
#[cfg(feature = "language-model")]
pub mod role;
#[cfg(feature = "system-clock")]
mod system_clock;
#[cfg(feature = "embeddings")]
mod vector_retriever;

#[cfg(feature = "language-model")]
pub use self::{
    adapted_model::AdaptedModel,
    chat_format::ChatFormat,
    model_executor::{ModelExecutor, ModelExecutorOptions},
};
#[cfg(feature = "embeddings")]
pub use self::{
    hashed_embedder::HashedEmbedder,
    hybrid_retriever::{DenseFailures, HybridRetriever},
    vector_retriever::{VectorRetriever, Vectors},
};
pub use environment_judge::EnvironmentJudge;
#[cfg(feature = "json-schema")]
pub use fn_environment::{FnEnvironment, Reply};
pub use fork_store::ForkStore;
pub use frozen_store::FrozenStore;
pub use json_lines_journal::{
    JsonLinesJournal, RecoveredJournal, read_json_lines, recover_json_lines,
};
pub use memory_journal::MemoryJournal;
pub use memory_store::MemoryStore;
pub use observed_executor::ObservedExecutor;
#[cfg(feature = "threads")]
pub use on_thread::OnThread;
#[cfg(feature = "system-clock")]
pub use system_clock::SystemClock;
