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

/// The samples of the guide to policies.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/policies.md")]
struct Policies;

/// The samples of the guide to maintenance programs.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/maintenance-programs.md")]
struct MaintenancePrograms;

/// The sample of a sixth paper.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/new-paper.md")]
struct NewPaper;

/// The samples of the guide to models.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/models.md")]
struct Models;

/// The sample of the guide to servers.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/servers.md")]
struct Servers;

/// The sample of the guide to adapters (LoRA).
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/lora-adapters.md")]
struct LoraAdapters;

/// The sample of a model for each job.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/model-for-each-job.md")]
struct ModelForEachJob;

/// The sample of a fitted gate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/calibrate-the-gate.md")]
struct CalibrateTheGate;

/// The samples of the exports.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/export-for-trainers.md")]
struct ExportForTrainers;

/// The samples of the demonstrations.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/demonstrations.md")]
struct Demonstrations;

/// The sample of how a role is replaced.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/replace-a-role.md")]
struct ReplaceARole;

/// The sample of a world behind an MCP server.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/attach-an-mcp-server.md")]
struct AttachAnMcpServer;

/// The sample of a library that is served.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/serve-a-library.md")]
struct ServeALibrary;

/// The samples of the guide to embeddings.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/embeddings.md")]
struct Embeddings;

/// The samples of the rules of learning.
#[cfg(doctest)]
#[doc = include_str!("../../docs/explanation/how-learning-decides.md")]
struct HowLearningDecides;

/// The sample of recipes.
#[cfg(doctest)]
#[doc = include_str!("../../docs/reference/recipes.md")]
struct Recipes;

/// The sample of the page on events.
#[cfg(doctest)]
#[doc = include_str!("../../docs/reference/events.md")]
struct Events;

/// The samples of the page on the parts of a host.
#[cfg(doctest)]
#[doc = include_str!("../../docs/how-to/choose-the-parts.md")]
struct ChooseTheParts;

/// The sample of the page on credit.
#[cfg(doctest)]
#[doc = include_str!("../../docs/explanation/credit.md")]
struct Credit;
