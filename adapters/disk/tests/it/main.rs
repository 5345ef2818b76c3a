//! The tests of libraries on disk.
#![allow(clippy::unwrap_used)]

mod archive;
mod conformance;
mod first_edition;
mod folders;
mod model;
mod privacy;
mod read_skills;
mod reader;
mod repair;
mod salvage;
mod store;
