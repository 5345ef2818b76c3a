//! Conversion between llama.cpp's types and the SDK's, and the errors that several modules share.

use std::time::Duration;

use journeyman::{
    Error, ErrorKind,
    domain::{Speaker, TokenId},
};
use llama_cpp_2::{DecodeError, token::LlamaToken};

/// The name of a speaker in chat templates.
pub(crate) fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
        // Any speaker that is added later is outside the model.
        _ => "user",
    }
}

/// The ids of llama.cpp's tokens.
pub(crate) fn ids(tokens: &[LlamaToken]) -> Vec<TokenId> {
    tokens.iter().map(|token| token.0).collect()
}

/// The error for a failed decode.
pub(crate) fn decode_error(operation: &'static str, error: DecodeError) -> Error {
    let message = match error {
        DecodeError::NoKvCacheSlot => "llama.cpp has no room left in its memory".to_owned(),
        ref other => format!("llama.cpp could not decode a batch ({other})"),
    };
    Error::new(ErrorKind::Unavailable, operation, message)
        .temporary()
        .hint("send a shorter request, or load the model with a larger n_ctx, more shared_cells or on another device")
        .source_from(error)
}

/// The error for a prompt that does not fit the context.
pub(crate) fn too_long(operation: &'static str, prompt_tokens: usize, context: usize) -> Error {
    Error::invalid(
        operation,
        format!("the prompt has {prompt_tokens} tokens and the context {context}"),
    )
    .with("prompt_tokens", prompt_tokens)
    .with("context", context)
    .hint("shorten the prompt, or load the model with a larger n_ctx")
}

/// The error for a full queue.
pub(crate) fn too_many_wait(operation: &'static str, most: usize) -> Error {
    Error::new(
        ErrorKind::RateLimited,
        operation,
        format!("{most} requests are already waiting for the model"),
    )
    .temporary()
    .hint("try again later, send fewer requests at once, or raise max_waiting")
}

/// The error for a passed time limit.
pub(crate) fn timed_out(operation: &'static str, limit: Duration) -> Error {
    Error::new(
        ErrorKind::Timeout,
        operation,
        format!("not finished within {} s", limit.as_secs_f64()),
    )
    .temporary()
    .hint("raise time_limit, ask for fewer tokens, or give the model more threads")
}

/// The error for a worker that has ended or panicked on this request.
pub(crate) fn worker_failed(operation: &'static str, message: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, operation, message)
        .temporary()
        .hint("try again; if the error persists, load the model again")
}

/// An error of the whole engine as the error of one request.
pub(crate) fn for_one_request(error: &Error) -> Error {
    let hint = error.hint_text().unwrap_or_default().to_owned();
    Error::new(error.kind(), "LlamaCpp", error.message().to_owned())
        .hint(hint)
        .temporary()
}

const NOT_FINITE: &str = "the model's logits are not finite";

/// Whether the error is about non-finite logits.
pub(crate) fn is_not_finite(error: &Error) -> bool {
    error.kind() == ErrorKind::Model && error.message() == NOT_FINITE
}

/// The error for non-finite logits.
pub(crate) fn not_finite(operation: &'static str) -> Error {
    Error::new(ErrorKind::Model, operation, NOT_FINITE).hint(
        "the file's weights are damaged or overflow: check the GGUF, or use another quantization",
    )
}

/// The error for an adapter name that is not loaded.
pub(crate) fn no_adapter(operation: &'static str, name: &str, loaded: &[&str]) -> Error {
    let loaded = match loaded {
        [] => "none is".to_owned(),
        names => format!("these are: {}", names.join(", ")),
    };
    Error::new(
        ErrorKind::NotFound,
        operation,
        format!("no adapter `{name}` is loaded"),
    )
    .hint(format!("load it with load_adapter first; {loaded}"))
}
