//! The tests of retrieval by words.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod conformance;
mod folder;
mod found;
mod retriever;
