//! Conformance suites of the contracts (feature `conformance`): a named case for each rule in a trait's documentation.
//!
//! Every suite is one function, `check`. It takes the part and the inputs for trying it, and returns a [`Report`]. An
//! adapter's `tests/conformance.rs` runs the suite of each contract that it implements:
//!
//! ```
//! use std::sync::Arc;
//! use journeyman::{builtin::MemoryStore, conformance, contract::SkillStore};
//!
//! let fresh = async || Ok(Arc::new(MemoryStore::new()) as Arc<dyn SkillStore>);
//! let report = futures::executor::block_on(conformance::skill_store::check(fresh));
//! println!("{report}");
//! report.into_result()?;
//! # Ok::<(), journeyman::Error>(())
//! ```
//!
//! A case that cannot be tried with these inputs is skipped, and the report has the reason. A host that accepts no skipped
//! case checks [`Report::skipped`].

pub mod clock;
pub mod dialect;
pub mod embedder;
pub mod environment;
pub mod executor;
pub mod guidance;
pub mod journal;
pub mod judge;
pub mod language_model;
mod report;
pub mod retriever;
pub mod roles;
pub mod scorer;
pub mod skill_files;
pub mod skill_store;
pub mod tokenizer;

pub use report::{Case, Outcome, Report};
