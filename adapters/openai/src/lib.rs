//! Models and embeddings of any OpenAI-compatible server: vLLM, SGLang, llama.cpp's `llama-server`, the server of
//! llama-cpp-python, and services.
//!
//! [`OpenAi`] writes texts ([`LanguageModel`](journeyman::contract::LanguageModel)) and, where the server can, gives the
//! log-probability of given ones ([`Scorer`](journeyman::contract::Scorer)). [`OpenAiEmbedder`] embeds texts
//! ([`Embedder`](journeyman::contract::Embedder)).
//!
//! ```no_run
//! // It asks a server.
//! use journeyman::{
//!     contract::{GenerateRequest, LanguageModel},
//!     domain::{Message, Prompt, Speaker},
//! };
//! use journeyman_openai::{Config, OpenAi};
//!
//! # async fn example() -> journeyman::Result<()> {
//! let model = OpenAi::connect(Config::new("http://127.0.0.1:8000/v1", "qwen3-8b")).await?;
//! println!("{}", model.support());
//! let prompt = Prompt::new(vec![Message::data(Speaker::User, "Where is the lamp?")]);
//! println!("{}", model.generate(&GenerateRequest::greedy(prompt, 64)).await?.text);
//! # Ok(())
//! # }
//! ```
//!
//! # What a server can do
//! [`OpenAi::connect`] finds it out by a few short requests, and shows it as [`Support`] and in the model's capabilities.
//! What was tried and does not work is listed with the reason; nothing is assumed. In particular a form of request for
//! scores ([`ScoringForm`]) counts as working only if it gives the log-probabilities with which the model itself has just
//! written a text: a server that is off by one token gives finite numbers too. Without such a form a score is
//! `Unsupported`, and a gate that needs scores declines.
//!
//! # Tool calls
//! Where the probe found that the model calls tools ([`Support::tools`]), a request's `tools` go to the chat route, and the
//! generation has the calls: put together from their pieces, and checked by the tools' schemas and the request's choice
//! ([`ToolCalls`](journeyman::text::ToolCalls)). Spellings of special tokens in descriptions are made harmless.
//!
//! # How a prompt is sent
//! On the chat route ([`Route::Chat`]) the server renders the messages by the model's chat template. On the route of
//! completions the contents of the messages are joined, for prompts in the model's own prompt format. There, each span is tokenized
//! on its own by the server's tokenizer, data without special tokens, and ids are sent. Where the server has no such
//! tokenizer, and on the chat route, text is sent: spellings of special tokens in data then get a blank behind their first
//! character. [`Config::marks`] names spellings beside the usual ones.
//!
//! `prompt.open` needs a server that continues a message of the assistant ([`Config::continues`]) on the chat route.
//!
//! # Failures
//! Failures that may pass (no connection, a broken one, 408, 429, 500, 502 to 504, 529) are tried again with waits of full
//! jitter, at least the server's `Retry-After`, within the request's time limit, and only while none of the text has reached
//! the request's sink. An exhausted quota is not tried again. All waits, the one for a free place among
//! [`Config::concurrency`] included, count towards the time limit.
//!
//! Each error is an [`OpenAiError`] as the source of a [`journeyman::Error`] that names the endpoint, the status and what to
//! do. A server's own text in it is cut to 500 characters, and the key and other known forms of secrets are redacted from it.
//!
//! Redirects are not followed, an address with a password is refused, and no proxy is taken from the environment.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

mod answer;
mod budget;
mod config;
mod connection;
mod context_limit;
mod convert;
mod embedder;
mod error;
mod events;
mod generate;
mod http;
mod language_model;
mod marks;
mod names;
mod pieces;
mod probe;
mod probe_fields;
mod probe_scores;
mod probe_tools;
mod retry;
mod runtime;
mod score;
mod score_echo;
mod score_forced;
mod scorer;
mod server;
mod streamed;
mod support;
mod tls;
mod tokens;

pub use config::{
    ApiKey, Budget, Config, CostLimit, Deadlines, Retries, Route, Scoring, ScoringForm,
};
pub use connection::OpenAi;
pub use embedder::OpenAiEmbedder;
pub use error::{DeadlineKind, OpenAiError};
pub use support::{Declined, ServerKind, Support, TokenizerForm};
