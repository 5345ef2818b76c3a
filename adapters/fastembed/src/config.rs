//! The configuration of an embedder.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// How the last states of a text's tokens become one vector. The model's card says which one it was trained with. It has no
/// effect on a model whose output is one vector for each text.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first one's.
    Cls,
}

impl Pooling {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        }
    }
}

/// The configuration of a [`FastEmbedder`](crate::FastEmbedder). Create it with [`FastEmbedderConfig::new`], then set its
/// fields. Defaults are in parentheses.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastEmbedderConfig {
    /// The folder of the model's files.
    pub folder: PathBuf,
    /// The pooling.
    pub pooling: Pooling,
    /// ONNX Runtime's shared library (none: the file that `ORT_DYLIB_PATH` names).
    pub runtime: Option<PathBuf>,
    /// Maximum tokens of a text, at most those of `tokenizer_config.json`; longer texts are cut (512).
    pub max_tokens: NonZeroUsize,
    /// Compute threads (1).
    pub threads: NonZeroUsize,
    /// Maximum number of calls that wait or are computed; more are refused with `RateLimited` (1,024).
    pub max_waiting: NonZeroUsize,
    /// Time limit of a call, checked between texts (60 s).
    pub time_limit: Duration,
}

impl FastEmbedderConfig {
    /// The defaults for a folder.
    pub fn new(folder: impl Into<PathBuf>, pooling: Pooling) -> Self {
        let count = |count| NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN);
        Self {
            folder: folder.into(),
            pooling,
            runtime: None,
            max_tokens: count(512),
            threads: NonZeroUsize::MIN,
            max_waiting: count(1024),
            time_limit: Duration::from_secs(60),
        }
    }
}
