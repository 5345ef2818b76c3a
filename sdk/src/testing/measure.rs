//! A tokenizer and an embedder without a model.

use async_trait::async_trait;

use super::{
    play::{word_id, words},
    retriever::words_of,
};
use crate::{
    contract::{Embedder, Embedding, EmbeddingSpace, TokenCount, Tokenizer},
    error::Result,
};

/// A [`Tokenizer`] whose tokens are words, each with the white space after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount {
            tokens: words(text).len(),
            estimated: false,
        }
    }

    fn truncate(&self, text: &str, tokens: usize) -> String {
        words(text).into_iter().take(tokens).collect()
    }
}

/// An [`Embedder`] that hashes words into buckets, so that texts with shared words are close.
#[derive(Clone, Debug)]
pub struct WordEmbedder {
    space: EmbeddingSpace,
}

impl WordEmbedder {
    /// An embedder of this many dimensions; 0 is taken as 1.
    pub fn new(dimensions: usize) -> Self {
        Self {
            space: EmbeddingSpace {
                name: "words".to_owned(),
                dimensions: dimensions.max(1),
            },
        }
    }

    fn one(&self, text: &str) -> Result<Embedding> {
        let mut vector = vec![0.0_f32; self.space.dimensions];
        for word in words_of(text) {
            vector[word_id(&word) as usize % self.space.dimensions] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length == 0.0 {
            // A text without words still needs a vector of length 1.
            vector[0] = 1.0;
            return Embedding::new(vector);
        }
        vector.iter_mut().for_each(|x| *x /= length);
        Embedding::new(vector)
    }
}

#[async_trait]
impl Embedder for WordEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        texts.iter().map(|text| self.one(text)).collect()
    }
}
