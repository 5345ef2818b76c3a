//! Local language models in GGUF, on llama.cpp, in process or in one of their own.
//!
//! [`LlamaCpp`] is one loaded model that writes ([`LanguageModel`](journeyman::contract::LanguageModel)), gives the
//! log-probability of a given text ([`Scorer`](journeyman::contract::Scorer)) and counts tokens
//! ([`Tokenizer`](journeyman::contract::Tokenizer)). [`LlamaEmbedder`] is one that embeds
//! ([`Embedder`](journeyman::contract::Embedder)).
//!
//! ```no_run
//! use journeyman::{
//!     contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer},
//!     domain::{Message, Prompt, Speaker},
//! };
//! use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
//!
//! # async fn example() -> journeyman::Result<()> {
//! let model = LlamaCpp::load(LlamaConfig::new("model.gguf"))?;
//! let prompt = Prompt {
//!     messages: vec![Message::data(Speaker::User, "Where is the lamp?")],
//!     open: Vec::new(),
//! };
//! let answer = model.generate(&GenerateRequest::greedy(prompt.clone(), 64)).await?;
//! println!("{}", answer.text);
//!
//! let scores = model
//!     .score(&ScoreRequest {
//!         prompt,
//!         continuations: vec!["On the desk.".to_owned(), "Nowhere.".to_owned()],
//!         max_continuation_tokens: 128,
//!         time_limit: std::time::Duration::from_secs(10),
//!         adapter: None,
//!     })
//!     .await?;
//! println!("{} against {} nats", scores[0].sum(), scores[1].sum());
//! # Ok(())
//! # }
//! ```
//!
//! # How a prompt becomes tokens
//! By the GGUF's own chat template or another one ([`Template`]), with the opening of the model's turn behind it; or
//! without a template, the contents one after the other. A template is rendered with placeholders for the contents: it
//! places them, and can neither change them nor look into them (one that leaves out earlier reasoning finds none).
//! `tools` are none, and `strftime_now` says one fixed date. It is held to bounds of steps and output and to 10 s, after
//! which its thread is left behind and the template refused; a file of unknown origin can still make it take much memory,
//! as its tensors can. Each span is tokenised **on its own**: data with special
//! parsing off, so that `<|im_end|>` in somebody's text stays text; the prompt author's spans, and the template's own
//! text, with special parsing on. Byte-pair merges therefore never cross the border of a span, and whoever trains a
//! model for such prompts must tokenise span by span too. A vocabulary of the SentencePiece kind begins each span
//! with its space prefix, if it has one. llama.cpp finds tokens of type *user-defined* in any text: markers that data
//! must not be able to spell have to be of type *control* ([`LlamaCpp::require_tokens`] checks that).
//! The vocabulary's BOS token is put in front once if the vocabulary asks for it, and not where the prompt itself
//! begins with it. A prompt of no tokens at all stands for the BOS token alone.
//!
//! A continuation that is scored is tokenised on its own as well, as data: scoring is from the first token behind
//! the prompt's last span, and no merge joins the two.
//!
//! # Many requests at once
//! One worker thread owns the context. Each of its steps decodes one batch, and the requests that are there share it:
//! texts that are being written take a row each, prompts and continuations share what is left; new requests join between
//! steps. What a request decoded stays in memory as long as there is room, and a later one that begins with the same
//! tokens does not decode them again; of several that come together, one decodes what they have in common. Where memory
//! runs out, cached prefixes go, and then the youngest request begins anew later. Too many that wait are refused with
//! `RateLimited`. Requests are taken in the order in which they come, whoever asks, and those in a batch share it
//! equally; one that needs more memory than is free waits at the head, and the others behind it.
//! [`LlamaCpp::stats`] tells what happens.
//!
//! # Output by a JSON Schema
//! With the feature `llguidance` a request's `json_schema`, of an object or an array, is obeyed while the text is written: tokens that would break
//! it are not drawn. The log-probabilities returned are the model's own, of all tokens. What a grammar cannot say (`not`,
//! `if`, `oneOf`) is `Unsupported`. Two things to mind: the feature turns on `preserve_order` of `serde_json` in the
//! whole program, and llguidance puts a panic hook in front of the program's at its first use.
//!
//! # Repeatability
//! What shares a batch and the memory with a request changes its arithmetic in the last place, so two texts of one request
//! may part where two tokens are nearly tied. With weights in full precision log-probabilities differ by less than 1e-4;
//! where activations are rounded to eight bits a rounding may tip over, and more has been seen (`docs/results.md`). With [`LlamaConfig::deterministic`] a request has the context to itself: memory
//! is cleared before it, and the shape of every batch follows from the request and the configuration alone. The same
//! request then gives the same bytes on the same machine and build.
//!
//! # Devices
//! The processor computes, unless [`GpuLayers`] gives layers to a GPU: the features `cuda`,
//! `vulkan` and `metal` build its backend in, and with `dynamic-backends` every backend, the processor's too, is a
//! library that [`load_backends`] or [`LlamaConfig::backends`] loads at run time. [`devices`](devices()) lists what there is. Before llama.cpp is
//! asked, weights, keys and values and what a batch takes are reckoned from the file's header ([`Plan`]) against the
//! memory that is free on the GPUs and in the system; what does not fit is refused with what would.
//! A GPU rounds otherwise: on Vulkan, log-probabilities of a text depend on the shape of its batches by some 1e-2, with
//! the environment's `GGML_VK_DISABLE_F16=1` by some 5e-3.
//!
//! # Deadlines and cancellation
//! A request's time limit counts from the call, its time in the queue included. The answer is `Timeout` when the limit
//! passes, even while llama.cpp is in the middle of a batch; the worker notices, as it notices a dropped future,
//! before its next batch. A panic while a request runs is that request's `Unavailable`, and the worker serves on. A
//! request whose logits are no numbers begins once more with nothing beside it, for the fault may be another one's;
//! where they are none again, it fails with `Model`. An abort inside llama.cpp ends the process: what leads to one is
//! refused at loading as far as it is known, and a host that cannot bear the rest keeps the model in a process of its
//! own: [`IsolatedLlama`], [`IsolatedEmbedder`]. A context that finds no memory when it is made anew behind a change of
//! the adapters fails requests as `Unavailable`, and is tried again with the next one; a worker process ends instead, and
//! another one is started.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

mod adapters;
mod backend;
mod config;
mod constrain;
mod context;
mod convert;
mod devices;
mod digest;
mod embedder;
mod exp;
mod fit;
mod generate;
mod gguf;
mod info;
mod isolated;
mod job;
mod language_model;
mod loaded;
mod lora;
mod prefix_cache;
mod prefixes;
mod queue;
mod render;
mod sampling;
mod saved;
mod scheduler;
mod score;
mod scorer;
mod setup;
mod sizes;
mod stats;
mod template;
mod text_stream;
mod tokenizer;
mod tokens;
mod weights;
mod worker;

pub use backend::backend;
pub use config::{GpuLayers, LlamaConfig, Template};
pub use devices::{Device, DeviceKind, devices, load_backends};
pub use embedder::{EmbedderConfig, LlamaEmbedder, Pooling};
pub use fit::Plan;
pub use info::ModelInfo;
pub use isolated::{IsolatedConfig, IsolatedEmbedder, IsolatedLlama, run_worker};
pub use loaded::LlamaCpp;
pub use stats::EngineStats;
