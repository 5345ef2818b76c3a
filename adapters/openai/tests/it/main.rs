//! The tests of models on servers.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod adapters;
mod conformance;
mod faults;
mod logs;
mod odd_answers;
mod recorded;
mod server_kinds;
mod servers;
mod support;
mod tools;
