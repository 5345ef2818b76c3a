//! An embedder without a model: hashed n-grams.

use async_trait::async_trait;

use crate::{
    contract::{Embedder, Embedding, EmbeddingSpace},
    error::Result,
    text::{HASHED_DIMENSIONS, hashed_ngrams},
};

/// An [`Embedder`] without a model: word n-grams and characters of words, hashed into 256 components. Texts with like words are
/// near each other; it knows no synonyms, and words with digits do not count. Where a recipe
/// assesses subgoals and the host gave no embedder, the same numbers are used.
///
/// ```
/// use futures::executor::block_on;
/// use journeyman::{agent::HashedEmbedder, contract::Embedder};
///
/// let embedder = HashedEmbedder::default();
/// let found = block_on(embedder.embed(&["open the valve", "opening valves", "send a letter"]))?;
/// assert!(found[0].cosine(&found[1]) > found[0].cosine(&found[2]));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HashedEmbedder {
    space: EmbeddingSpace,
}

impl Default for HashedEmbedder {
    fn default() -> Self {
        Self {
            space: EmbeddingSpace {
                name: "hashed-ngrams-1".to_owned(),
                dimensions: HASHED_DIMENSIONS,
            },
        }
    }
}

#[async_trait]
impl Embedder for HashedEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        let embedded = texts.iter().map(|text| Embedding::new(hashed_ngrams(text)));
        embedded.collect()
    }
}
