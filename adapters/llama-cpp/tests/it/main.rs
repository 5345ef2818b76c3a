//! The tests of local models, on tiny random ones. `memory.rs` beside this folder has a process of its own.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used
)]

mod adapter;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
mod backends;
mod conformance;
mod isolated;
#[path = "../support/mod.rs"]
mod support;
