//! The tests of MCP, as a client and as a server.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod conformance;
mod faults;
mod library;
mod oddities;
mod reference;
mod secrets;
mod support;
