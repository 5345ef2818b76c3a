//! Starting llama.cpp's backend.

use std::sync::OnceLock;

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::{LogOptions, llama_backend::LlamaBackend, send_logs_to_tracing};

/// llama.cpp's backend, once for the process and never freed: a model may live as long as the process. For hosts that
/// use the crate `llama-cpp-2` themselves beside this adapter: it can be started once in a process only.
///
/// # Errors
/// `Unavailable` where somebody else has started it.
pub fn backend() -> Result<&'static LlamaBackend> {
    static BACKEND: OnceLock<std::result::Result<LlamaBackend, String>> = OnceLock::new();
    BACKEND
        .get_or_init(|| {
            // Dropped, not traced: the crate's bridge aborts on a line that goes on before one has begun.
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
            .hint("let this adapter be the only part of the process that starts llama.cpp")
        })
}
