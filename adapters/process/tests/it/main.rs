//! The tests of environments and agents in other processes.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod children;
mod conformance;
mod page;
mod support;
