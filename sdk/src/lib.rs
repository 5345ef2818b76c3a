//! Journeyman: an embeddable agent runtime that learns skills on the job.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod admit;
pub mod builtin;
pub mod conformance;
pub mod contract;
pub mod credit;
pub mod domain;
mod error;
mod id;
pub mod inject;
pub mod library;
pub mod measure;
pub mod recipe;
pub mod retrieve;
pub mod reward;
pub mod role;
pub mod run;
pub mod select;
pub mod testing;
pub mod text;

pub use error::{Error, ErrorKind, Result, Retry};
pub use id::{
    AttemptId, Category, CommitKey, ModelId, Revision, RunId, Seed, SkillId, TaskId, Timestamp,
    Version, sha256_hex,
};
