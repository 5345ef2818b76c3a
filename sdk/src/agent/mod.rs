//! Implementations of contracts that need no other crate: a store and a journal in memory, a frozen store, a store for one
//! rollout, a journal of JSON lines, a judge that reads the environment's outcome, an agent driven by a language model, one
//! whose attempts the host sees, a model with an adapter (LoRA), a prompt format for instruct models, retrieval by embeddings and by words together, and an embedder without a model. With the feature `threads` also a
//! wrapper that runs blocking parts on threads, with `system-clock` a clock, and with `json-schema` `FnEnvironment`, an environment of
//! a list of tools and a function.

mod adapted_model;
mod chat_format;
mod environment_judge;
#[cfg(feature = "json-schema")]
mod fn_environment;
mod fork_store;
mod frozen_store;
mod hashed_embedder;
mod hybrid_retriever;
mod json_lines_journal;
mod memory_journal;
mod memory_store;
mod model_executor;
mod observed_executor;
#[cfg(feature = "threads")]
mod on_thread;
mod one_model;
pub mod role;
#[cfg(feature = "system-clock")]
mod system_clock;
mod vector_retriever;

pub use adapted_model::AdaptedModel;
pub use chat_format::ChatFormat;
pub use environment_judge::EnvironmentJudge;
#[cfg(feature = "json-schema")]
pub use fn_environment::{FnEnvironment, Reply};
pub use fork_store::ForkStore;
pub use frozen_store::FrozenStore;
pub use hashed_embedder::HashedEmbedder;
pub use hybrid_retriever::{DenseFailures, HybridRetriever};
pub use json_lines_journal::{
    JsonLinesJournal, RecoveredJournal, read_json_lines, recover_json_lines,
};
pub use memory_journal::MemoryJournal;
pub use memory_store::MemoryStore;
pub use model_executor::{ModelExecutor, ModelExecutorOptions};
pub use observed_executor::ObservedExecutor;
#[cfg(feature = "threads")]
pub use on_thread::OnThread;
#[cfg(feature = "system-clock")]
pub use system_clock::SystemClock;
pub use vector_retriever::{VectorRetriever, Vectors};
