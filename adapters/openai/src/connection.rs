//! A connection to one model of a server.

use std::sync::Arc;

use journeyman::Result;

use crate::{
    config::{CONNECT, Config},
    http::Place,
    runtime::Runtime,
    server::Server,
    support::Support,
};

/// A model of an OpenAI-compatible server: it writes texts, and scores given ones where the server can.
///
/// It has a thread of its own for its requests, and works in any asynchronous runtime. Dropping a call's future aborts its
/// request.
#[derive(Debug)]
pub struct OpenAi {
    pub(crate) server: Arc<Server>,
    pub(crate) runtime: Runtime,
}

impl OpenAi {
    /// Connects to a model and finds out what its server can do, with a few short requests (at most about 150 tokens).
    ///
    /// # Errors
    /// `Invalid` for a configuration out of range, a key that the server refuses, and a context that neither the server nor
    /// the configuration names; `NotFound` for a model that the server does not list; `Unavailable`, `RateLimited` and
    /// `Timeout` as for requests; `Model` where the address does not lead to such a server, or where the scoring form that
    /// the configuration names does not give sound scores.
    pub async fn connect(config: Config) -> Result<Self> {
        let mut server = Server::new(config)?;
        let runtime = Runtime::start(CONNECT).await?;
        let server = runtime
            .run(CONNECT, async move {
                let deadline = server.deadline(server.config.deadlines.total);
                match server.probe(deadline).await {
                    Ok(()) => Ok(server),
                    Err(error) => {
                        let endpoint = server.http.address(Place::Api(""));
                        Err(error.at(CONNECT, endpoint.as_str(), 1))
                    }
                }
            })
            .await?;
        tracing::info!(model = %server.config.model, support = %server.support, "connected to a model server");
        Ok(Self {
            server: Arc::new(server),
            runtime,
        })
    }

    /// What the server was found to support.
    pub fn support(&self) -> &Support {
        &self.server.support
    }

    /// Checks that the server lists an adapter (LoRA) of this model: on vLLM a model whose `parent` is this one, on llama-server one of
    /// the files that it was started with, by the file's name without the ending. A request names it by [`GenerateRequest::adapter`](journeyman::contract::GenerateRequest::adapter), which
    /// [`AdaptedModel`](journeyman::agent::AdaptedModel) does for a whole part of a host.
    ///
    /// # Errors
    /// `NotFound` where the server lists none of this name; the error lists those that it has.
    pub fn require_adapter(&self, name: &str) -> Result<()> {
        let known = self.server.model_for(Some(name)).map(drop);
        let endpoint = self.server.http.address(Place::Api("models"));
        known.map_err(|error| error.at(CONNECT, endpoint.as_str(), 1))
    }

    /// The tokens that this connection used so far, of prompts and written texts together, with what is set aside for
    /// requests in flight.
    pub fn used_tokens(&self) -> u64 {
        self.server.ledger.tokens()
    }
}
