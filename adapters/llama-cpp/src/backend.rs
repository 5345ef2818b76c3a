//! Starting llama.cpp's backend.

use std::sync::OnceLock;

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::{LogOptions, llama_backend::LlamaBackend, send_logs_to_tracing};

use crate::instructions;

/// llama.cpp's backend, started once per process and never freed, because a model may live as long as the process. For
/// hosts that also use the crate `llama-cpp-2` themselves: it can be started only once in a process.
///
/// # Errors
/// `Unavailable` where another part of the process has started it; `Unsupported` on a processor without the instructions that it was
/// compiled for.
pub fn backend() -> Result<&'static LlamaBackend> {
    static BACKEND: OnceLock<std::result::Result<LlamaBackend, String>> = OnceLock::new();
    instructions::require("LlamaCpp::load")?;
    BACKEND
        .get_or_init(|| {
            // Logs are dropped and not traced: the crate's bridge aborts on a continuation line without a first line.
            send_logs_to_tracing(LogOptions::default().with_logs_enabled(false));
            LlamaBackend::init().map_err(|error| error.to_string())
        })
        .as_ref()
        .map_err(|message| {
            Error::new(
                ErrorKind::Unavailable,
                "LlamaCpp::load",
                format!("llama.cpp cannot be started ({message})"),
            )
            .hint("let only this adapter start llama.cpp in the process")
        })
}
