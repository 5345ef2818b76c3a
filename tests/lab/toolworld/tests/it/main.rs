//! Toolworld from outside: its worlds and splits, its environment, and the training text of the bundled model.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod conformance;
mod environment;
mod general;
mod passing;
mod splits;
mod worlds;
