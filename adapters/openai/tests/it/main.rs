//! The tests of models on servers. `memory.rs` beside this folder has a process of its own.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod adapters;
mod conformance;
mod faults;
mod logs;
mod odd_answers;
mod recorded;
mod server_kinds;
mod servers;
#[path = "../support/mod.rs"]
mod support;
mod tools;
