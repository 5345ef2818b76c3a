//! [`IsolatedLlama`]: a language model in a process of its own.

mod adapters;
mod client;
mod config;
mod embedder;
mod event;
mod keeper;
mod process;
mod protocol;
mod serve;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use journeyman::{
    Error, ErrorKind, ModelId, Result,
    contract::{
        GenerateRequest, Generation, LanguageModel, ModelCapabilities, ModelSpeed, ScoreRequest,
        Scorer, TokenCount, TokenScores, Tokenizer,
    },
};

pub use config::IsolatedConfig;
pub use embedder::IsolatedEmbedder;
pub use serve::run_worker;

use self::{
    client::Client,
    protocol::{Answer, Ask, Generate, Load, Loaded},
};
use crate::{
    adapter_digests::AdapterDigests, digest::file_digest, generate::GENERATE, instructions,
    sampling, score::SCORE, scorer::trained_to_score,
};

const COUNT: &str = "IsolatedLlama::count";
/// Maximum length, in bytes, of a text that the worker counts; counting makes all other requests wait.
const MOST_COUNTED: usize = 1 << 20;

/// A [`LlamaCpp`](crate::LlamaCpp) in a worker process: an abort inside llama.cpp, or a kill by the system for lack of
/// memory, costs the running requests and not the host.
///
/// - Answers are the same to the bit; errors keep kind, message, facts and hint.
/// - When the worker dies, every running request fails as `Unavailable`, temporary, with the signal or exit code, and
///   another worker is started at once. New requests wait for it within their time limits, at most
///   [`LlamaConfig::max_waiting`](crate::LlamaConfig::max_waiting) of them.
/// - Workers that die in a row without an answered request are restarted with growing pauses; after
///   [`IsolatedConfig::restarts`] of them requests are refused with the reason for [`IsolatedConfig::rest`].
/// - The host enforces time limits, whatever the worker does. A worker that stays silent beyond
///   [`IsolatedConfig::grace`] is killed and replaced. A worker whose model hangs while the process still answers is
///   not; its requests end as `Timeout`.
/// - The worker has only the environment that the configuration gives it, no shell, and its own process group, which is
///   killed as a whole. It ends when this is dropped, and when the host's process ends in any way, because its standard
///   input then ends. A worker that was stopped (SIGSTOP) at that time ends when it continues.
/// - A file that was replaced by another model since the first loading is a `Conflict`.
pub struct IsolatedLlama {
    client: Client,
    capabilities: ModelCapabilities,
    count_limit: Duration,
    digests: AdapterDigests,
}

impl fmt::Debug for IsolatedLlama {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IsolatedLlama")
            .field("capabilities", &self.capabilities)
            .field("process", &self.process_id())
            .finish_non_exhaustive()
    }
}

impl IsolatedLlama {
    /// Starts a worker and waits until it has loaded the model. Relative paths are relative to the host's current
    /// folder at this call, also for restarted workers.
    ///
    /// # Errors
    /// Those of [`LlamaCpp::load`](crate::LlamaCpp::load), and
    /// - `NotFound`: the worker's executable does not exist.
    /// - `Unsupported`: a worker of another protocol version.
    /// - `Unavailable`: the worker cannot be started, died while it loaded, took longer than
    ///   [`IsolatedConfig::load_limit`], or is another program.
    pub fn load(config: IsolatedConfig) -> Result<Arc<Self>> {
        let count_limit = config.count_limit;
        let adapters = config.model.adapters.clone();
        let (client, loaded) = Client::start(config.for_load(Load::Model))?;
        let Loaded::Model(capabilities) = loaded else {
            return Err(unexpected(protocol::LOAD_MODEL));
        };
        let digests = AdapterDigests::default();
        for (name, path) in &adapters {
            digests.put(name, Some(file_digest(protocol::LOAD_MODEL, path)?));
        }
        // The worker has no one to warn, and is of this build.
        instructions::warn_of_unused();
        Ok(Arc::new(Self {
            client,
            capabilities,
            count_limit,
            digests,
        }))
    }

    /// The process id of the present worker; `None` while there is none.
    pub fn process_id(&self) -> Option<u32> {
        self.client.process_id()
    }

    fn ask_vocabulary(&self, text: &str, ask: impl FnOnce(String) -> Ask) -> Option<Answer> {
        let asked = (text.len() <= MOST_COUNTED).then(|| ask(text.to_owned()))?;
        self.client.ask_now(COUNT, self.count_limit, asked).ok()
    }
}

/// The error for an answer of the wrong kind.
fn unexpected(operation: &'static str) -> Error {
    Error::new(
        ErrorKind::Internal,
        operation,
        "the worker process sent an answer of the wrong kind",
    )
    .hint("use the worker that was built with this host")
}

#[async_trait]
impl LanguageModel for IsolatedLlama {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        // Checked here: JSON cannot express non-finite numbers.
        sampling::check(GENERATE, &request.sampling)?;
        let ask = Ask::Generate(Generate::of(request)?);
        let sink = request.sink.clone();
        match self
            .client
            .ask(GENERATE, request.time_limit, ask, sink)
            .await?
        {
            Answer::Generation(generation) => Ok(generation),
            _ => Err(unexpected(GENERATE)),
        }
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        sampling::check(GENERATE, &request.sampling)?;
        let ask = Ask::CountPrompt(Generate::of(request)?);
        match self
            .client
            .ask(GENERATE, request.time_limit, ask, None)
            .await?
        {
            Answer::Count { tokens, estimated } => Ok(TokenCount { tokens, estimated }),
            _ => Err(unexpected(GENERATE)),
        }
    }
}

#[async_trait]
impl Scorer for IsolatedLlama {
    fn model(&self) -> &ModelId {
        &self.capabilities.model
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let ask = Ask::Score(request.clone());
        match self
            .client
            .ask(SCORE, request.time_limit, ask, None)
            .await?
        {
            Answer::Scores(scores) => Ok(scores),
            _ => Err(unexpected(SCORE)),
        }
    }

    fn speed(&self) -> Option<ModelSpeed> {
        self.capabilities.speed
    }

    /// Yes: a model's id has a digest of its file.
    fn has_lasting_scores(&self) -> bool {
        true
    }

    /// Whether it is one of the models that come with Journeyman: their training has skills behind tasks.
    fn is_trained_to_score(&self) -> bool {
        trained_to_score(&self.capabilities.model)
    }

    fn weights(&self, adapter: Option<&str>) -> ModelId {
        self.digests.weights(&self.capabilities.model, adapter)
    }
}

/// The worker counts, and the caller is blocked, for at most [`IsolatedConfig::count_limit`]. If it does not answer,
/// and for a text of more than 1 MiB, the count is the text's length in bytes, marked as an estimate: a text cannot
/// have more tokens, so a text that fits by it fits. A truncation then keeps as many bytes as it may have tokens.
impl Tokenizer for IsolatedLlama {
    fn count(&self, text: &str) -> TokenCount {
        let asked = self.ask_vocabulary(text, |text| Ask::Count { text });
        match asked {
            Some(Answer::Count { tokens, estimated }) => TokenCount { tokens, estimated },
            _ => TokenCount {
                tokens: text.len(),
                estimated: true,
            },
        }
    }

    fn truncate(&self, text: &str, tokens: usize) -> String {
        let asked = self.ask_vocabulary(text, |text| Ask::Truncate { text, tokens });
        match asked {
            Some(Answer::Text(kept)) => kept,
            _ => text[..text.floor_char_boundary(tokens)].to_owned(),
        }
    }
}
