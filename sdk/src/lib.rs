//! Journeyman: an embeddable agent runtime that learns skills on the job.
//!
//! A host brings an agent ([`Executor`](contract::Executor)), its world ([`Environment`](contract::Environment)) and a
//! judgement of results ([`Judge`](contract::Judge)), and chooses a [`recipe`]. [`Journeyman`](run::Journeyman) then
//! finds the skills that may fit a task, lets one into the prompt only where the model's own log-probabilities say that
//! it belongs there, credits it by what happened, and writes new ones from what worked.
//!
//! ```
//! use std::sync::Arc;
//!
//! use journeyman::{
//!     Seed,
//!     agent::EnvironmentJudge,
//!     contract::Components,
//!     domain::Action,
//!     recipe,
//!     run::{Journeyman, Options},
//!     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
//! };
//!
//! # futures::executor::block_on(async {
//! // Scripted parts: a world in which words are to be said in order, and an agent that says them.
//! let agent = ScriptedExecutor::acting(|attempt, steps| {
//!     let word = attempt.task.payload[steps.len()].as_str().unwrap_or_default();
//!     Play::Give(Some(Action::Message(word.to_owned())))
//! });
//! let world = ScriptedEnvironment::words();
//! let components = Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge));
//!
//! let options = Options::new("first-session", Seed(7));
//! let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
//! let report = journeyman.learn(vec![sample::task("greet", &["good", "day"])]).await?;
//! assert_eq!(report.tasks[0].attempts[0].success, Some(true));
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Features
//! - `system-clock` (default): [`agent`] has `SystemClock`, a clock that reads the system's time.
//! - `threads` (default): [`agent`] has `OnThread`, a wrapper that runs blocking parts on threads of their own.
//! - `json-schema`: validation of JSON by a schema. [`text`] has `JsonSchema`, `ToolCalls` and `loosened`, [`agent::role`] has `Structured` and
//!   `ModelJudge`, [`agent`] has `FnEnvironment`. Without it, arguments of tool calls are not held against the tools' schemas
//!   ([`ChatFormat`](agent::ChatFormat)), and a role's skill keeps its shipped schema
//!   ([`GeneralRoles`](agent::role::GeneralRoles)).
//! - `arise`, `hisme`, `scribe`, `skillos`, `skillrl`: the [room](papers) of a paper, with its recipe; `papers`: all five. Without it, a recipe that names
//!   one of its policies is refused ([`Recipe::resolve`](recipe::Recipe::resolve)). [`recipe::standard`] needs none.
//! - `testing`: the module `testing`, scripted doubles of all parts and generators of inputs. The example above needs it. It enables
//!   `json-schema` and `papers`.
//! - `conformance`: the module `testing::conformance`, a suite of checks for each contract. It enables `testing`. Both are for a
//!   host's `[dev-dependencies]`.
//!
//! Where to read on: [`contract`] for what a host implements, [`run`] for the two ways in, [`stations::select`] for the gate,
//! [`library`] for what a library does with a commit, [`agent::role`] for what a model is asked beside its tasks.
#![cfg_attr(not(test), deny(clippy::unwrap_used))]
// What several papers share has no user in a build without them. A build with all of them says what none uses.
#![cfg_attr(
    not(all(
        feature = "arise",
        feature = "hisme",
        feature = "scribe",
        feature = "skillos",
        feature = "skillrl"
    )),
    allow(dead_code, unused_imports)
)]

pub mod agent;
pub mod contract;
pub mod domain;
mod error;
mod id;
pub mod library;
pub mod papers;
pub mod policy;
pub mod prelude;
pub mod recipe;
pub mod run;
pub mod stations;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;

/// The attribute that the contracts are written with, so that a host implements them with the same version.
pub use async_trait::async_trait;
pub use error::{Error, ErrorKind, Result, Retry};
pub use id::{Category, ModelId, RunId, Seed, SkillId, TaskId, Version};
