//! [Journeyman](journeyman) with a local model and a library on disk: the parts that most hosts take, put together.
//!
//! [`builder()`] takes a model and opens a session. It sets the parts that a host with one model has: the agent, the gate's scorer and
//! the writer of skills are that model, in its own chat template; skills are searched by BM25; the library and the journal are in
//! a folder. Each can be replaced, so a host that outgrows them keeps its session and its library.
//!
//! ```no_run
//! // It loads a model.
//! use journeyman_local::prelude::*;
//!
//! # async fn run(tasks: Vec<Task>) -> Result<()> {
//! let tools = [tool::<()>("water", "Waters the plant.")];
//! let garden = FnEnvironment::new(Source::trusted("garden"), tools, |_: &mut (), _call| {
//!     Reply::done("The plant is watered.")
//! })?;
//! let parts = builder("model.gguf").environment(garden).library("library");
//! let session = parts.open().await?;
//! println!("{}", session.learn(tasks).await?);
//! # Ok(())
//! # }
//! ```
//!
//! `examples/embed/src/bin/shortest.rs` is a whole program of 25 lines, and `docs/tutorial/hand-over-tasks.md` says more.
//!
//! # Errors
//! [`Builder::open`] gives those of its parts: of [`LlamaCpp::load`](journeyman_llama_cpp::LlamaCpp::load) for the model, of
//! [`DiskStore::open`](journeyman_disk::DiskStore::open) for the library, of [`Journeyman::open`](journeyman::run::Journeyman::open) for
//! the recipe. What is wrong with the recipe is said before anything is loaded.
//!
//! # Tools
//! An environment can be a function: [`FnEnvironment`](journeyman::agent::FnEnvironment). With the feature `schemars`, which is on,
//! `tool` makes the definition of a tool from the type of its arguments, and [`ToolCallExt::read_arguments`] reads a call into it.
//!
//! # Features
//! - `schemars` (default): `tool`, and `JsonSchema` in the [`prelude`].
//! - `measure` (default): `Journeyman::certify` and `Journeyman::calibrate_by_outcomes`.
//! - `embeddings`: retrieval by embeddings, and by words and embeddings together ([`journeyman::agent`]).
//! - `papers`: the recipes of the papers ([`journeyman::papers`]). A host that wants one of them alone has `journeyman` with its feature.
//! - `llguidance` (default), `cuda`, `vulkan`, `metal`, `dynamic-backends`: as in [`journeyman_llama_cpp`].
//!
//! # Runtimes
//! Any async runtime can await [`Builder::open`]: what blocks in it (loading the model, opening the library) runs on a thread.

mod model;
mod parts;
pub mod prelude;
mod tools;

pub use journeyman;
pub use journeyman_disk;
pub use journeyman_llama_cpp;
pub use model::Model;
pub use parts::{Builder, builder};
#[cfg(feature = "schemars")]
pub use schemars;
pub use tools::ToolCallExt;
#[cfg(feature = "schemars")]
pub use tools::tool;
