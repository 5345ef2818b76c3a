//! Conformance suites (feature `conformance`) of the contracts and of the traits of a host's own policies: a named case for
//! each rule in a trait's documentation.
//!
//! Every suite is one function, `check`. It takes the part and the inputs for trying it, and returns a [`Report`]. An
//! adapter's `tests/it/conformance.rs` runs the suite of each contract that it implements:
//!
//! ```
//! use std::sync::Arc;
//! use journeyman::{agent::MemoryStore, testing::conformance, contract::SkillStore};
//!
//! let fresh = async || Ok(Arc::new(MemoryStore::new()) as Arc<dyn SkillStore>);
//! let report = futures::executor::block_on(conformance::skill_store::check(fresh));
//! println!("{report}");
//! report.into_result()?;
//! # Ok::<(), journeyman::Error>(())
//! ```
//!
//! The suites of [`policy`](crate::policy):
//!
//! | suite | trait | inputs |
//! | --- | --- | --- |
//! | [`select_program`] | `SelectProgram` | a learning run ([`LearningFixture`]) |
//! | [`assess_program`] | `AssessProgram` | a learning run |
//! | [`reward_rule`] | `RewardRule` | attempts with verdicts |
//! | [`credit_rule`] | `CreditRule` | groups of attempts |
//! | [`write_program`] | `WriteProgram` | a learning run |
//! | [`admit_rule`] | `AdmitRule` | a library and skills |
//! | [`maintenance_program`] | `MaintenanceProgram` | a learning run |
//!
//! A case that cannot be tried with these inputs is skipped, and the report has the reason. A host that accepts no skipped
//! case checks [`Report::skipped`].

pub mod admit_rule;
pub mod assess_program;
pub mod clock;
pub mod credit_rule;
pub mod embedder;
pub mod environment;
pub mod executor;
pub mod guidance;
pub mod journal;
pub mod judge;
pub mod language_model;
mod learning;
pub mod maintenance_program;
pub mod prompt_format;
mod report;
pub mod retriever;
pub mod reward_rule;
pub mod roles;
pub mod scorer;
pub mod select_program;
pub mod skill_files;
pub mod skill_store;
pub mod tokenizer;
pub mod write_program;

pub use learning::LearningFixture;
pub use report::{Case, Outcome, Report};
