//! [`IsolatedEmbedder`]: an embedding model in a process of its own.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use journeyman::{
    Result,
    contract::{Embedder, Embedding, EmbeddingSpace},
};

use super::{
    client::Client,
    config::IsolatedConfig,
    protocol::{Answer, Ask, LOAD_EMBEDDER, Load, Loaded},
    unexpected,
};
use crate::embedder::{EMBED, EmbedderConfig};

/// A [`LlamaEmbedder`](crate::LlamaEmbedder) in a worker process, under the rules of
/// [`IsolatedLlama`](crate::IsolatedLlama): the same vectors to the bit; a worker that dies is replaced, and its
/// requests fail as `Unavailable`, temporary. The vectors of one call have to fit into 64 MiB of text, about five
/// million numbers.
pub struct IsolatedEmbedder {
    client: Client,
    space: EmbeddingSpace,
    time_limit: Duration,
}

impl fmt::Debug for IsolatedEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IsolatedEmbedder")
            .field("space", &self.space)
            .field("process", &self.process_id())
            .finish_non_exhaustive()
    }
}

impl IsolatedEmbedder {
    /// Starts a worker and waits until it has loaded the model. Relative paths are relative to the host's current
    /// folder at this call, also for restarted workers.
    ///
    /// # Errors
    /// Those of [`LlamaEmbedder::load`](crate::LlamaEmbedder::load), and those of the process as in
    /// [`IsolatedLlama::load`](crate::IsolatedLlama::load).
    pub fn load(config: IsolatedConfig<EmbedderConfig>) -> Result<Arc<Self>> {
        let time_limit = config.model.time_limit;
        let (client, loaded) = Client::start(config.for_load(Load::Embedder))?;
        let Loaded::Embedder(space) = loaded else {
            return Err(unexpected(LOAD_EMBEDDER));
        };
        Ok(Arc::new(Self {
            client,
            space,
            time_limit,
        }))
    }

    /// The process id of the present worker; `None` while there is none.
    pub fn process_id(&self) -> Option<u32> {
        self.client.process_id()
    }
}

#[async_trait]
impl Embedder for IsolatedEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        let ask = Ask::Embed { texts };
        match self.client.ask(EMBED, self.time_limit, ask, None).await? {
            Answer::Embeddings(embeddings) => Ok(embeddings),
            _ => Err(unexpected(EMBED)),
        }
    }
}
