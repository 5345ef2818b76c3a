//! The tests of embeddings from ONNX files.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::unwrap_used)]

mod conformance;
mod embedder;
mod support;
