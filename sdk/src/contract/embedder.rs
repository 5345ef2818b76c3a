//! Embeddings.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Number of partial sums of an inner product: enough for any machine's widest registers.
const LANES: usize = 16;

/// A vector space of embeddings. Two embeddings are comparable only within one space.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EmbeddingSpace {
    /// The model and its pooling.
    pub name: String,
    /// Number of components.
    pub dimensions: usize,
}

impl EmbeddingSpace {
    /// A space of this name and number of dimensions.
    pub fn new(name: impl Into<String>, dimensions: usize) -> Self {
        Self {
            name: name.into(),
            dimensions,
        }
    }
}

/// A vector of finite components. An [`Embedder`] gives it length 1.
///
/// ```
/// use journeyman::contract::Embedding;
///
/// let (east, north) = (Embedding::new(vec![1.0, 0.0])?, Embedding::new(vec![0.0, 1.0])?);
/// assert_eq!(east.cosine(&north), 0.0);
/// assert!(Embedding::new(vec![f32::NAN, 0.0]).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f32>", into = "Vec<f32>")]
pub struct Embedding(Vec<f32>);

impl Embedding {
    /// Checks the components.
    ///
    /// # Errors
    /// `Invalid`, with the index of the first component that is not finite.
    pub fn new(components: Vec<f32>) -> Result<Self> {
        match components
            .iter()
            .position(|component| !component.is_finite())
        {
            None => Ok(Self(components)),
            Some(index) => Err(Error::invalid(
                "Embedding::new",
                format!("component {index} of the embedding is not finite"),
            )),
        }
    }

    /// The components, in order.
    pub fn components(&self) -> &[f32] {
        &self.0
    }

    /// The cosine of two embeddings of one space, the same whichever comes first: their inner product, since both are of
    /// length 1. So within rounding it is in [-1, 1].
    pub fn cosine(&self, other: &Self) -> f64 {
        f64::from(dot(&self.0, &other.0))
    }
}

impl TryFrom<Vec<f32>> for Embedding {
    type Error = Error;

    fn try_from(components: Vec<f32>) -> Result<Self> {
        Self::new(components)
    }
}

impl From<Embedding> for Vec<f32> {
    fn from(embedding: Embedding) -> Self {
        embedding.0
    }
}

/// The inner product, in lanes: the compiler turns them into wide instructions, which it may not do with one running sum
/// of floats.
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
///         texts.iter().map(|text| {
///             // One of each, so that the empty text has a direction too.
///             let mut counts = [1.0_f32; 26];
///             for letter in text.bytes().filter(u8::is_ascii_lowercase) {
///                 counts[usize::from(letter - b'a')] += 1.0;
///             }
///             let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
///             Embedding::new(counts.iter().map(|count| count / length).collect())
///         }).collect()
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let letters = Letters(EmbeddingSpace::new("letters", 26));
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
    /// The space of the embeddings.
    fn space(&self) -> &EmbeddingSpace;

    /// Embeds texts.
    ///
    /// # Errors
    /// `Unavailable`, `RateLimited` or `Timeout`.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedding_is_an_array_of_finite_numbers_in_json() {
        let embedding = Embedding::new(vec![0.6, -0.8]).unwrap();
        let json = serde_json::to_string(&embedding).unwrap();
        assert_eq!(json, "[0.6,-0.8]");
        assert_eq!(serde_json::from_str::<Embedding>(&json).unwrap(), embedding);
        // Infinite as `f32`.
        let too_large = serde_json::json!([0.6, 1e39]);
        let error = serde_json::from_value::<Embedding>(too_large).unwrap_err();
        assert!(
            error.to_string().contains("component 1 of the embedding"),
            "{error}"
        );
    }
}
