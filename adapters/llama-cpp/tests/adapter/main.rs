//! What the adapter does beyond the contracts' conformance cases, on a tiny random model.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod adapters;
mod constrained;
mod describing;
mod embedding;
mod fitting;
mod generating;
mod jobs;
mod loading;
mod prefixes;
mod prompting;
mod scoring;
mod serving;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod thoughts;
mod tools;
