//! The index of the command: words, with stems of one language where a person asks for them.

use clap::ValueEnum;
use journeyman::Result;
use journeyman_tantivy::{Bm25Retriever, Config, Stemmer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The language whose inflected words are also found by their stems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    /// `meetings` finds `meeting`.
    English,
}

/// An index in memory.
pub(crate) fn retriever(stems: Option<Language>) -> Result<Bm25Retriever> {
    let mut config = Config::default();
    config.stemmer = stems.map(|language| match language {
        Language::English => Stemmer::English,
    });
    Bm25Retriever::new(config)
}
