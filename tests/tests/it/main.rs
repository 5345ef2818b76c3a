//! The rules of the house, and what the crates do together.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used
)]

mod architecture;
mod assessed;
mod curator;
mod demonstrated;
mod exported;
mod field;
mod frozen;
mod lessons;
mod licenses;
mod links;
mod public_api;
mod real_model;
mod roles;
mod scenarios;
mod skills;
mod structure;
mod suites;
mod tidy;
