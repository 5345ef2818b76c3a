//! The command from end to end, each test on a library of its own.
#![allow(clippy::unwrap_used, missing_docs)]

mod answers;
mod bad_input;
mod changing;
mod evals;
mod experiments;
mod faults;
#[path = "../../../llama-cpp/tests/support/gguf.rs"]
mod gguf;
mod interchange;
mod jobs;
mod maintenance;
mod model_server;
mod models;
mod output_page;
mod page_commands;
mod page_lines;
mod reading;
mod repair;
mod running;
mod serving;
mod strangers;
mod support;
