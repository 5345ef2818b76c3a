//! Embeddings for [Journeyman](journeyman) from ONNX files of your own, on fastembed and ONNX Runtime.
//!
//! ```no_run
//! // It loads a model's files.
//! use journeyman::contract::Embedder;
//! use journeyman_fastembed::{FastEmbedder, FastEmbedderConfig, Pooling};
//!
//! # futures::executor::block_on(async {
//! let mut config = FastEmbedderConfig::new("models/bge-small-en-v1.5", Pooling::Cls);
//! config.runtime = Some("onnxruntime/capi/libonnxruntime.so.1.24.1".into());
//! let embedder = FastEmbedder::load(config)?;
//! let vectors = embedder.embed(&["open the sealed jar"]).await?;
//! assert_eq!(vectors[0].components().len(), embedder.space().dimensions);
//! # Ok::<_, journeyman::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Errors
//! Of ONNX Runtime: `NotFound` where it is not named or not there, `Unsupported` for one that is too old, `Invalid` for another library,
//! `Unavailable` where it cannot be loaded; each says which file to fetch. Of the model: `NotFound` or `Unavailable` for a file that cannot
//! be read, `Corrupt` for one that cannot be used, `Model` where a text cannot be embedded.
//!
//! # The model's files
//! A folder with `model.onnx`, `tokenizer.json`, `config.json`, `special_tokens_map.json` and `tokenizer_config.json`, as
//! exported from a transformers model. Nothing is downloaded. The ONNX file is data for ONNX Runtime, so take it from a
//! source that you trust.
//!
//! # ONNX Runtime
//! The shared library is loaded at run time: from [`FastEmbedderConfig::runtime`], or else from the file that
//! `ORT_DYLIB_PATH` names. It has to be of version 1.24 or later. `bash tests/adapters/fastembed.sh` of the repository
//! fetches one and prints its path; by hand, `pip download onnxruntime` gets a wheel that has it as
//! `onnxruntime/capi/libonnxruntime.so.<version>`. A process loads one library, which stays loaded.

mod config;
mod convert;
mod embedder;
mod files;
mod runtime;

pub use config::{FastEmbedderConfig, Pooling};
pub use embedder::FastEmbedder;
