//! [`Embedder`] over `/embeddings`.

use std::sync::Arc;

use async_trait::async_trait;
use journeyman::{
    Result,
    contract::{Embedder, Embedding, EmbeddingSpace},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    budget::Usage,
    config::{CONNECT, Config},
    error::OpenAiError,
    http::Place,
    retry::Deadline,
    runtime::Runtime,
    server::Server,
};

const EMBED: &str = "OpenAiEmbedder::embed";
const EMBEDDINGS: Place = Place::Api("embeddings");
/// Texts in one request.
const BATCH: usize = 64;

#[derive(Debug, Deserialize)]
struct Embedded {
    data: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    index: usize,
    embedding: Vec<f32>,
}

/// An embedding model of an OpenAI-compatible server. Vectors are brought to length 1. The empty text is embedded as one
/// blank, since servers refuse it.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    server: Arc<Server>,
    runtime: Runtime,
    space: EmbeddingSpace,
}

impl OpenAiEmbedder {
    /// Connects to a model, and embeds one word to learn the number of dimensions. Route, scoring and context of the
    /// configuration are not used.
    ///
    /// # Errors
    /// As [`OpenAi::connect`](crate::OpenAi::connect).
    pub async fn connect(config: Config) -> Result<Self> {
        let mut server = Server::new(config)?;
        let runtime = Runtime::start(CONNECT).await?;
        let (server, dimensions) = runtime
            .run(CONNECT, async move {
                let deadline = server.deadline(server.config.deadlines.total);
                let (mut attempts, one) = (1, ["one".to_owned()]);
                let tried = match server.find_model(deadline).await {
                    Ok(_) => server.embed(&one, None, deadline, &mut attempts).await,
                    Err(error) => Err(error),
                };
                let dimensions = tried.map(|vectors| {
                    vectors
                        .first()
                        .map_or(0, |vector| vector.components().len())
                });
                let endpoint = server.http.address(EMBEDDINGS);
                let dimensions =
                    dimensions.map_err(|error| error.at(CONNECT, endpoint.as_str(), attempts))?;
                Ok((server, dimensions))
            })
            .await?;
        Ok(Self {
            space: EmbeddingSpace::new(server.config.model.clone(), dimensions),
            server: Arc::new(server),
            runtime,
        })
    }
}

impl Server {
    /// The embeddings of texts. Where `dimensions` are given, other ones are refused: a server may have changed its model.
    /// `attempts_made` gets the number of attempts at the last request.
    async fn embed(
        &self,
        texts: &[String],
        dimensions: Option<usize>,
        deadline: Deadline,
        attempts_made: &mut u32,
    ) -> Result<Vec<Embedding>, OpenAiError> {
        let mut embeddings = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let input: Vec<&str> = batch
                .iter()
                .map(|text| if text.is_empty() { " " } else { text })
                .collect();
            let body =
                json!({"model": self.config.model, "input": input, "encoding_format": "float"});
            let bytes: usize = input.iter().map(|text| text.len()).sum();
            let most = Usage {
                input: bytes as u64 + 2 * batch.len() as u64,
                output: 0,
            };
            let answer = self
                .embed_once(&body, most, deadline, attempts_made)
                .await?;
            embeddings.extend(vectors(answer, batch.len(), dimensions)?);
        }
        Ok(embeddings)
    }

    async fn embed_once(
        &self,
        body: &Value,
        most: Usage,
        deadline: Deadline,
        attempts_made: &mut u32,
    ) -> Result<Value, OpenAiError> {
        let mut attempts = self.attempts(deadline);
        loop {
            *attempts_made = attempts.made;
            let reservation = self.ledger.reserve(most)?;
            match self.http.json(EMBEDDINGS, Some(body), deadline).await {
                Ok(answer) => {
                    let counted = answer
                        .pointer("/usage/prompt_tokens")
                        .and_then(Value::as_u64);
                    reservation.settle(Usage {
                        input: counted.unwrap_or(most.input),
                        output: 0,
                    });
                    return Ok(answer);
                }
                Err(error) => {
                    reservation.after(&error, false);
                    attempts.again(error).await?;
                }
            }
        }
    }
}

/// The vectors of an answer in the order of their texts, each of length 1.
fn vectors(
    answer: Value,
    count: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Embedding>, OpenAiError> {
    let mut entries = serde_json::from_value::<Embedded>(answer)
        .map_err(|_| OpenAiError::shape("it has no embeddings of numbers"))?
        .data;
    entries.sort_by_key(|entry| entry.index);
    if !entries.iter().map(|entry| entry.index).eq(0..count) {
        return Err(OpenAiError::shape(format!(
            "it has {} embeddings for {count} texts",
            entries.len()
        )));
    }
    let first = entries.first().map_or(0, |entry| entry.embedding.len());
    if entries.iter().any(|entry| entry.embedding.len() != first) {
        return Err(OpenAiError::shape(
            "its embeddings have different numbers of dimensions",
        ));
    }
    if let Some(space) = dimensions.filter(|space| *space != first && count > 0) {
        return Err(OpenAiError::Dimensions {
            found: first,
            space,
        });
    }
    let unit = |entry: Entry| {
        let squares = entry
            .embedding
            .iter()
            .map(|x| f64::from(*x) * f64::from(*x));
        let length = squares.sum::<f64>().sqrt();
        if !(length.is_finite() && length > 0.0) {
            return Err(OpenAiError::shape(
                "an embedding has no direction, or is not finite",
            ));
        }
        let scaled = entry
            .embedding
            .iter()
            .map(|x| (f64::from(*x) / length) as f32);
        Embedding::new(scaled.collect()).map_err(|error| OpenAiError::shape(error.message()))
    };
    entries.into_iter().map(unit).collect()
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        let server = self.server.clone();
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let dimensions = self.space.dimensions;
        let deadline = server.deadline(server.config.deadlines.total);
        self.runtime
            .run(EMBED, async move {
                let (mut attempts, space) = (1, Some(dimensions));
                let embedded = server.embed(&texts, space, deadline, &mut attempts).await;
                let endpoint = server.http.address(EMBEDDINGS);
                embedded.map_err(|error| error.at(EMBED, endpoint.as_str(), attempts))
            })
            .await
    }
}
