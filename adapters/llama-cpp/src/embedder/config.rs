//! The configuration of an embedding model.

use std::{path::PathBuf, time::Duration};

use journeyman::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::config::{GpuLayers, LlamaConfig};

pub(super) const LOAD: &str = "LlamaEmbedder::load";

/// How the states of a text's tokens are pooled into one vector.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first one's.
    Cls,
    /// The last one's.
    Last,
}

/// The configuration of an embedding model. Create it with [`EmbedderConfig::new`], then set its fields. Defaults are
/// in parentheses.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedderConfig {
    /// The GGUF file.
    pub path: PathBuf,
    /// Maximum tokens of a text, at least 16; longer texts are cut. `None`: the trained context, at most 2,048.
    pub n_ctx: Option<u32>,
    /// Compute threads, 1 to 512. `None`: as for [`LlamaConfig::threads`].
    pub threads: Option<u32>,
    /// Layers that GPUs compute (none).
    pub gpu_layers: GpuLayers,
    /// The pooling. `None`: as the file says; loading fails for a file that does not say.
    pub pooling: Option<Pooling>,
    /// Maximum number of waiting calls, 1 or more (1,024); more are refused with `RateLimited`.
    pub max_waiting: u32,
    /// Time limit of a call (60 s).
    pub time_limit: Duration,
    /// As [`LlamaConfig::backends`].
    pub backends: Option<PathBuf>,
}

impl EmbedderConfig {
    /// The defaults for a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            n_ctx: None,
            threads: None,
            gpu_layers: GpuLayers::None,
            pooling: None,
            max_waiting: 1024,
            time_limit: Duration::from_secs(60),
            backends: None,
        }
    }

    /// The configuration for loading the weights. An embedder needs no memory beside the text that it reads.
    pub(super) fn model(&self, context: u32) -> LlamaConfig {
        let mut config = LlamaConfig::new(&self.path);
        config.n_ctx = Some(context);
        config.threads = self.threads;
        config.gpu_layers = self.gpu_layers;
        config.max_waiting = self.max_waiting;
        config.n_batch = context;
        config.n_seq_max = 2;
        config.shared_cells = Some(0);
        config
    }
}

pub(super) fn pooling_name(pooling: Pooling) -> &'static str {
    match pooling {
        Pooling::Mean => "mean",
        Pooling::Cls => "cls",
        Pooling::Last => "last",
    }
}

/// The host's choice, or else the file's (`{architecture}.pooling_type`, with llama.cpp's numbers).
pub(super) fn pooling(chosen: Option<Pooling>, of_file: Option<u64>) -> Result<Pooling> {
    match (chosen, of_file) {
        (Some(chosen), _) => Ok(chosen),
        (None, Some(1)) => Ok(Pooling::Mean),
        (None, Some(2)) => Ok(Pooling::Cls),
        (None, Some(3)) => Ok(Pooling::Last),
        (None, Some(4)) => Err(Error::unsupported(LOAD, "the model ranks pairs of texts")
            .hint("use the GGUF of an embedding model, not of a reranker")),
        (None, _) => Err(
            Error::unsupported(LOAD, "the file does not say how tokens are pooled").hint(
                "set EmbedderConfig::pooling to what the model was trained with, or use the GGUF of an \
                    embedding model",
            ),
        ),
    }
}
