//! Environments and agents in another process, in any language, for [Journeyman](journeyman): JSON Lines on standard input
//! and output.
//!
//! [`ProcessEnvironment`] is an `Environment` and [`ProcessExecutor`] an `Executor` of the SDK. The child process speaks
//! the protocol of `docs/process.md`; [`protocol`] has its messages. For Python there are files without dependencies in
//! `adapters/process/python`: `journeyman_env.py` (a class to derive from), `journeyman_gym.py` (wraps an environment
//! with Gymnasium's `reset` and `step`) and `journeyman_agent.py` (an agent).
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
