//! Environments and agents in another process, in any language, for [Journeyman](journeyman): JSON Lines on standard input
//! and output.
//!
//! [`ProcessEnvironment`] is an `Environment` and [`ProcessExecutor`] an `Executor` of the SDK. The child process speaks
//! the protocol of `docs/reference/process-protocol.md`; [`protocol`] has its messages. For Python there are files without dependencies in
//! `adapters/process/python`: `journeyman_env.py` (a class to derive from), `journeyman_gym.py` (wraps an environment
//! with Gymnasium's `reset` and `step`) and `journeyman_agent.py` (an agent).
//!
//! ```no_run
//! // It starts two Python programs that lie beside the host.
//! use std::sync::Arc;
//!
//! use journeyman::prelude::*;
//! use journeyman_process::{ProcessConfig, ProcessEnvironment, ProcessExecutor};
//!
//! # async fn example() -> Result<()> {
//! let python = |file: &str| ProcessConfig::new("/usr/bin/python3").with_arguments([file]);
//! let desk = ProcessEnvironment::start(python("desk.py")).await?;
//! let agent = ProcessExecutor::start(python("agent.py")).await?;
//! let parts = Components::new(Arc::new(agent), Arc::new(desk), Arc::new(EnvironmentJudge));
//! let session = Journeyman::open(parts, recipe::standard(), Options::new("desk", Seed(7))).await?;
//! println!("{}", session.learn(vec![Task::new("t-1", "Close ticket 17.")]).await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//! Each error of a process has a [`ProcessFault`] as its source, and says what to do. A program that does not exist is `NotFound`, one that
//! speaks another version of the protocol or is the other part `Unsupported`, one that does not answer in time `Timeout`, and one that
//! comes back with other guarantees `Conflict`. Everything else, such as a process that died, is `Unavailable`. A fault that may pass
//! is temporary: the next attempt starts the program again, up to [`ProcessConfig::restarts`].
//!
//! # Processes
//! A child is started without a shell, with no variables but those that the host names, in a process group of its own.
//! Dropping the environment kills the group. On Linux the system also kills the child when the host dies without a word
//! (SIGKILL); what the child itself started then outlives it unless it ends with its standard input.
//!
//! # Runtimes
//! Threads serve the pipes, so any async runtime can await the calls. Nothing here needs tokio.

mod child;
mod config;
mod connection;
mod convert;
mod death_signal;
mod environment;
mod executor;
mod fault;
mod lines;
pub mod protocol;
mod supply;
mod table;
mod tail;

pub use config::ProcessConfig;
pub use environment::ProcessEnvironment;
pub use executor::ProcessExecutor;
pub use fault::{Ending, ProcessFault};
pub use tail::StderrTail;
