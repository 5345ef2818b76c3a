//! Embeddings.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// What makes two embeddings comparable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EmbeddingSpace {
    /// The model and its pooling.
    pub name: String,
    /// Number of components.
    pub dimensions: usize,
}

/// A vector of unit length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding(pub Vec<f32>);

/// A model that embeds texts.
///
/// # Behaviour
/// - *one each*: one embedding for each text, in order, each of the space's dimensions.
/// - *unit*: every embedding is finite and of length 1, within 1e-3.
/// - *repeats*: the same text gives the same embedding.
#[async_trait]
pub trait Embedder: fmt::Debug + Send + Sync {
    /// The space that the embeddings live in.
    fn space(&self) -> &EmbeddingSpace;

    /// Embeds texts.
    ///
    /// # Errors
    /// `Unavailable`, `RateLimited` or `Timeout`.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>>;
}
