//! What is checked across the crates: their architecture and tidiness, and the figures that are measured.

pub mod adapters;
pub mod engine;
pub mod field;
pub mod figures;
pub mod gate;
pub mod general;
pub mod host;
pub mod house;
pub mod identity;
pub mod library;
pub mod main_job;
pub mod papers;
pub mod proof;
pub mod quickstart;
pub mod real_models;
pub mod recipes;
pub mod second_hour;
pub mod skills;
pub mod source;

/// The samples of the README, so that they compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The samples of the guide to policies of a host's own.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide.md")]
struct Guide;

/// The sample of a sixth paper.
#[cfg(doctest)]
#[doc = include_str!("../../docs/new-paper.md")]
struct NewPaper;

/// The samples of the guide to models.
#[cfg(doctest)]
#[doc = include_str!("../../docs/models.md")]
struct Models;

/// The samples of the exports.
#[cfg(doctest)]
#[doc = include_str!("../../docs/exports.md")]
struct Exports;

/// The sample of the demonstrations.
#[cfg(doctest)]
#[doc = include_str!("../../docs/demonstrations.md")]
struct Demonstrations;

/// The sample of how a role is replaced.
#[cfg(doctest)]
#[doc = include_str!("../../docs/roles.md")]
struct Roles;

/// The samples of the guide to MCP.
#[cfg(doctest)]
#[doc = include_str!("../../docs/mcp.md")]
struct Mcp;

/// The sample of the guide to embeddings.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embeddings.md")]
struct Embeddings;
