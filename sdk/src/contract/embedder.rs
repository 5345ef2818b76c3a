//! Embeddings.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// How many products are summed beside each other: enough for any machine's widest registers.
const LANES: usize = 16;

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

impl Embedding {
    /// The cosine of two embeddings of one space, the same whichever comes first: their inner product, since both are of
    /// length 1. So within rounding it is in [-1, 1].
    pub fn cosine(&self, other: &Self) -> f64 {
        f64::from(dot(&self.0, &other.0))
    }
}

/// In lanes, which the compiler turns into wide instructions as it may not do with one running sum of floats.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = (a.remainder().iter().zip(b.remainder()))
        .map(|(x, y)| x * y)
        .sum();
    for (a, b) in a.zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    rest + sums.iter().sum::<f32>()
}

/// A model that embeds texts.
///
/// ```
/// use journeyman::{Result, async_trait, contract::{Embedder, Embedding, EmbeddingSpace}};
///
/// /// How often each letter occurs.
/// #[derive(Debug)]
/// struct Letters(EmbeddingSpace);
///
/// #[async_trait]
/// impl Embedder for Letters {
///     fn space(&self) -> &EmbeddingSpace {
///         &self.0
///     }
///
///     async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
///         Ok(texts.iter().map(|text| {
///             // One of each, so that the empty text has a direction too.
///             let mut counts = [1.0_f32; 26];
///             for letter in text.bytes().filter(u8::is_ascii_lowercase) {
///                 counts[usize::from(letter - b'a')] += 1.0;
///             }
///             let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
///             Embedding(counts.iter().map(|count| count / length).collect())
///         }).collect())
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let letters = Letters(EmbeddingSpace { name: "letters".to_owned(), dimensions: 26 });
/// let vectors = letters.embed(&["coffee", "coffees", "jazz"]).await?;
/// assert!(vectors[0].cosine(&vectors[1]) > vectors[0].cosine(&vectors[2]));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
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
