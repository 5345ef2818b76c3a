//! llama.cpp's words into ours.

use std::time::Duration;

use journeyman::{
    Error, ErrorKind,
    domain::{Speaker, TokenId},
};
use llama_cpp_2::{DecodeError, token::LlamaToken};

/// The role that chat templates know a speaker by.
pub(crate) fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
        // A speaker added later speaks from outside the model.
        _ => "user",
    }
}

/// Our ids for llama.cpp's tokens.
pub(crate) fn ids(tokens: &[LlamaToken]) -> Vec<TokenId> {
    tokens.iter().map(|token| token.0).collect()
}

/// A decode that failed.
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

/// Prompt and output do not fit.
pub(crate) fn too_long(operation: &'static str, prompt_tokens: usize, context: usize) -> Error {
    Error::invalid(
        operation,
        format!("the prompt has {prompt_tokens} tokens and the context {context}"),
    )
    .with("prompt_tokens", prompt_tokens)
    .with("context", context)
    .hint("shorten the prompt, or load the model with a larger n_ctx")
}

/// The queue is full.
pub(crate) fn too_many_wait(operation: &'static str, most: usize) -> Error {
    Error::new(
        ErrorKind::RateLimited,
        operation,
        format!("{most} requests wait for the model already"),
    )
    .temporary()
    .hint("ask again later or fewer at once, or raise max_waiting")
}

/// The time limit passed.
pub(crate) fn timed_out(operation: &'static str, limit: Duration) -> Error {
    Error::new(
        ErrorKind::Timeout,
        operation,
        format!("not finished within {limit:?}"),
    )
    .temporary()
    .hint("raise time_limit, ask for fewer tokens, or give the model more threads")
}

/// The worker is gone, or panicked on this request.
pub(crate) fn worker_failed(operation: &'static str, message: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, operation, message)
        .temporary()
        .hint("try again; load the model anew if it persists")
}

/// What befell the whole engine, as the error of one request.
pub(crate) fn of_request(error: &Error) -> Error {
    let hint = error.hint_text().unwrap_or_default().to_owned();
    Error::new(error.kind(), "LlamaCpp", error.message().to_owned())
        .hint(hint)
        .temporary()
}

const NOT_FINITE: &str = "the model's logits are not finite";

/// Whether the model gave numbers that are none.
pub(crate) fn is_not_finite(error: &Error) -> bool {
    error.kind() == ErrorKind::Model && error.message() == NOT_FINITE
}

/// The model gave numbers that are none.
pub(crate) fn not_finite(operation: &'static str) -> Error {
    Error::new(ErrorKind::Model, operation, NOT_FINITE).hint(
        "the file's weights are damaged or overflow: check the GGUF, or use another quantisation",
    )
}

/// No adapter of this name is loaded.
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
