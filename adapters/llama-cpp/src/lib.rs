//! Local language models in GGUF format on llama.cpp, in the host's process or in one of their own.
//!
//! [`LlamaCpp`] is a loaded model that generates text ([`LanguageModel`](journeyman::contract::LanguageModel)), scores
//! given texts by log-probability ([`Scorer`](journeyman::contract::Scorer)) and counts tokens
//! ([`Tokenizer`](journeyman::contract::Tokenizer)). [`LlamaEmbedder`] is a loaded model that embeds texts
//! ([`Embedder`](journeyman::contract::Embedder)).
//!
//! ```no_run
//! // It loads a model.
//! use journeyman::{
//!     contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer},
//!     domain::{Message, Prompt, Speaker},
//! };
//! use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
//!
//! # async fn example() -> journeyman::Result<()> {
//! let model = LlamaCpp::load(LlamaConfig::new("model.gguf"))?;
//! let prompt = Prompt::new(vec![Message::data(Speaker::User, "Where is the lamp?")]);
//! let answer = model.generate(&GenerateRequest::greedy(prompt.clone(), 64)).await?;
//! println!("{}", answer.text);
//!
//! let scores = model
//!     .score(&ScoreRequest::new(prompt, vec!["On the desk.".to_owned(), "Nowhere.".to_owned()]))
//!     .await?;
//! println!("{} against {} nats", scores[0].sum(), scores[1].sum());
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//! [`LlamaCpp::load`] says by its kind what is wrong: `NotFound` (no such file), `Invalid` (not a GGUF, or a value out of range), `Corrupt`
//! (cut off or damaged), `Unsupported` (not a language model, or what this machine or build cannot do), `Unavailable` (too little
//! memory). A request fails as `Timeout` at its time limit, as `RateLimited` where too many wait, as `Invalid` where its prompt leaves no room
//! in the context, and as `Model` where an answer cannot be what was asked for.
//!
//! # How a prompt becomes tokens
//! A prompt is rendered by the GGUF's own chat template or another one ([`Template`]), with the opening of the model's
//! turn at the end; without a template, the contents are joined.
//!
//! A template is rendered with placeholders for the contents, and for those texts of tools and calls that could spell a special
//! token. It places them, and can neither change nor read them (a template that strips earlier reasoning finds none).
//! `strftime_now` returns a fixed date. Rendering is bounded in steps and output and to 10 s; after that its thread is abandoned
//! and the template refused. A file of unknown origin can still make a template use much memory, as its tensors can. A template
//! that raises an exception is `Unsupported`, with its words; so is one that drops, repeats or changes a message.
//!
//! Each span is tokenized **on its own**: data without special parsing, so that `<|im_end|>` in somebody's text stays
//! text; the prompt author's spans and the template's own text with special parsing. Byte-pair merges therefore never
//! cross the border of a span, and training for such prompts must tokenize span by span too. A vocabulary of the
//! SentencePiece kind begins each span with its space prefix, if it has one. llama.cpp finds tokens of type
//! *user-defined* in any text: markers that data must not be able to spell have to be of type *control*.
//!
//! The BOS token is added once in front if the vocabulary asks for it and the prompt does not begin with it. An empty
//! prompt is replaced by the BOS token alone.
//!
//! A scored continuation is also tokenized on its own, as data: scoring begins with the first token after the prompt's
//! last span, and no merge joins the two.
//!
//! # Tools, calls and thoughts
//! Loading renders a few short conversations to find out what the template accepts. `ModelCapabilities::tools` is true exactly
//! where it shows a tool to the model and writes a call in one of the forms below. Messages are then put into the form that the
//! template accepts: a system message that it refuses goes in front of the user's first message, calls that it takes one at a
//! time get a message each, a tool's result becomes the user's where it has no such role, and neighbors of one speaker are joined
//! where user and assistant must take turns.
//!
//! | family | tools are shown | calls are read | system message | turns alternate | thoughts |
//! | --- | --- | --- | --- | --- | --- |
//! | Qwen 2.5 | in the system message | `<tool_call>{"name": …, "arguments": …}</tool_call>`, several | yes | no | none |
//! | Qwen 3 | in the system message | as Qwen 2.5 | yes | no | the model opens them; `enable_thinking` |
//! | Hermes 3 (`tool_use`) | in a system message of their own | as Qwen 2.5 | yes | no | none |
//! | Llama 3.1 | in the user's first message | `{"name": …, "parameters": …}`, one at a time | yes | no | none |
//! | Mistral Nemo | before the user's last message | `[TOOL_CALLS][{"name": …, "arguments": …}, …]` | in the user's last message | yes | none |
//! | Mistral Small 3.2 | behind the system message | `[TOOL_CALLS]name[ARGS]{…}`, several | yes | yes | none |
//! | Functionary 3.1 | in a system message of their own | `<function=name>{…}</function>`, several | yes | no | none |
//! | Gemma 2 | not at all | | in the user's first message | yes | none |
//! | DeepSeek R1 distilled | not at all | | yes | no | the template opens them |
//!
//! Each family's renderings and answers are compared with what transformers' `apply_chat_template` makes of its published
//! template (`tests/templates`). Another template that writes calls in one of these forms has tools, too.
//!
//! Calls are read behind the thoughts and checked against their tools' schemas
//! ([`ToolCalls`](journeyman::text::ToolCalls)). Text before them is the answer's text; text behind them is left out, since a
//! model that goes on has invented their results. A block that is not closed, or closed and not opened, is read. What cannot be
//! read or does not obey its schema stays text where the model chooses (`ToolChoice::Auto`). A call that must be made
//! (`Required`, `Named`) is begun for the model. Where the feature `llguidance` is on and a grammar can express the schemas of all tools
//! that it may be of, it is constrained to one of them and to its schema, and the answer is this one call (of several tools not in
//! Mistral's newer form, whose mark behind the name no text spells). Elsewhere the
//! model writes freely, and an answer without a call is `Model`. An answer that `max_tokens` cuts has no call and is no error.
//!
//! Thoughts stand between `<think>` and `</think>`, also where the template opened them in the prompt. They take at most half of
//! `max_tokens`, or what [`Thinking::Budget`] allows: then the adapter writes their end. `Generation::forced` lists these tokens,
//! and a trainer's record leaves them out. A scored text, an answer by a JSON Schema and a call that must be made have no
//! thoughts before them.
//!
//! # Many requests at once
//! One worker thread owns the context. Each of its steps decodes one batch, which the present requests share: each text
//! that is being generated takes one row, and prompts and continuations share the rest. New requests join between
//! steps.
//!
//! Decoded tokens stay in memory as long as there is room, and a later request that begins with the same tokens does
//! not decode them again; of several concurrent requests, one decodes their common prefix. When memory runs out, cached
//! prefixes are evicted, and then the youngest request is restarted later.
//!
//! Requests begin in order of arrival, whoever sends them, and those in a batch share it equally. A request that needs
//! more memory than is free waits at the head of the queue, and the others behind it. Beyond
//! [`LlamaConfig::max_waiting`] requests are refused with `RateLimited`. [`LlamaCpp::stats`] returns counters.
//!
//! # Output by a JSON Schema
//! With the feature `llguidance`, generation obeys a request's `json_schema`, for an object or an array: tokens that
//! would break it are not drawn. The returned log-probabilities are the model's own, over all tokens. Keywords that a
//! grammar cannot express (`not`, `if`, `oneOf`) are `Unsupported`. The feature has two side effects: it turns on
//! `preserve_order` of `serde_json` in the whole program, and llguidance installs a panic hook in front of the
//! program's at its first use.
//!
//! # Repeatability
//! Requests that share a batch and the memory change each other's arithmetic in the last digits, so two texts of one
//! request may differ where two tokens are nearly tied. With weights in full precision, log-probabilities differ by
//! less than 1e-4. Where activations are rounded to eight bits, a rounding may change, and larger differences have been
//! observed (`docs/results/engine.md`). With [`LlamaConfig::deterministic`] a request has the context to itself: memory holds
//! nothing else, but for whole blocks of 64 tokens that the last prompt begins with, too, and the shape of every batch
//! follows from the request and the configuration alone. The same request then gives the same bytes on the same machine
//! and build.
//!
//! # Devices
//! The processor computes, unless [`GpuLayers`] assigns layers to a GPU. The features `cuda`, `vulkan` and `metal`
//! build a GPU backend in. With `dynamic-backends` every backend, the processor's too, is a library that
//! [`load_backends`] or [`LlamaConfig::backends`] loads at run time. [`devices`](devices()) lists the devices.
//!
//! Before llama.cpp loads a model, the memory for weights, keys and values and compute buffers is estimated from the
//! file's header ([`Plan`]) and compared with the free memory of the GPUs and the system, without what other models of this
//! process have mapped. A model that does not fit is refused, and the error says what would fit.
//!
//! GPUs round differently: on Vulkan, log-probabilities of a text depend on the shape of its batches by about 1e-2, and
//! by about 5e-3 with `GGML_VK_DISABLE_F16=1` in the environment.
//!
//! # Deadlines and cancellation
//! A request's time limit counts from the call, including its time in the queue. The answer is `Timeout` when the limit
//! passes, even while llama.cpp is in the middle of a batch; the worker drops the request before its next batch, as it
//! does when the future is dropped.
//!
//! A panic during a request is that request's `Unavailable`, and the worker goes on. A request with non-finite logits
//! is repeated alone, because another request may have caused them; if they are non-finite again, it fails with
//! `Model`.
//!
//! An abort inside llama.cpp ends the process. Known causes are refused at loading; a host that cannot accept the rest
//! keeps the model in a process of its own: [`IsolatedLlama`], [`IsolatedEmbedder`].
//!
//! When adapters change, the context is created again. If memory is short then, requests fail as `Unavailable`, and the
//! next request tries again; a worker process ends instead, and another one is started.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

mod adapter_digests;
mod adapters;
mod backend;
mod calls;
mod catalog;
mod config;
mod console;
mod constrain;
mod context;
mod convert;
mod cores;
mod devices;
mod digest;
mod embedder;
mod exp;
mod fit;
mod generate;
mod gguf;
mod info;
mod instructions;
mod isolated;
mod job;
mod language_model;
mod loaded;
mod lora;
mod mapped;
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
mod speed;
mod stats;
mod template;
mod threads;
mod tokenizer;
mod tokens;
mod weights;
mod worker;

pub use backend::backend;
pub use catalog::{PublicModel, find_model};
pub use config::{GpuLayers, LlamaConfig, Precision, Template, Thinking};
pub use console::{Pulse, print_warnings};
pub use devices::{Device, DeviceKind, devices, load_backends};
pub use embedder::{EmbedderConfig, LlamaEmbedder, Pooling};
pub use fit::Plan;
pub use info::ModelInfo;
pub use instructions::unused_instructions;
pub use isolated::{IsolatedConfig, IsolatedEmbedder, IsolatedLlama, run_worker};
pub use loaded::LlamaCpp;
pub use stats::EngineStats;
