//! The same model in a process of its own.

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
        GenerateRequest, Generation, LanguageModel, ModelCapabilities, ScoreRequest, Scorer,
        TokenCount, TokenScores, Tokenizer,
    },
};

pub use config::IsolatedConfig;
pub use embedder::IsolatedEmbedder;
pub use serve::run_worker;

use self::{
    client::Client,
    protocol::{Answer, Ask, Generate, Load, Loaded, Score},
};
use crate::{generate::GENERATE, sampling, score::SCORE};

const REQUIRE_TOKENS: &str = "IsolatedLlama::require_tokens";
const COUNT: &str = "IsolatedLlama::count";
/// How long a vocabulary may be asked.
const REQUIRE_LIMIT: Duration = Duration::from_secs(10);
/// Longer texts are not counted by the worker, which would have to let everything else wait meanwhile.
const MOST_COUNTED: usize = 1 << 20;

/// What [`LlamaCpp`](crate::LlamaCpp) does, in a worker process: an abort inside llama.cpp, or the system's taking it
/// down for want of memory, costs the requests in flight and not the host.
///
/// - Answers are the same to the bit; errors keep kind, message, facts and hint.
/// - When the worker dies, every request in flight fails as `Unavailable`, temporary, with the signal or exit code,
///   and another worker is started at once. Requests that come meanwhile wait for it within their time limits, at most
///   [`LlamaConfig::max_waiting`](crate::LlamaConfig::max_waiting) of them.
/// - Workers that die one after the other with no request answered between are started with growing pauses; after
///   [`IsolatedConfig::restarts`] of them requests are refused with the reason for [`IsolatedConfig::rest`].
/// - Time limits are kept by the host, whatever the worker does. A worker that stays silent beyond
///   [`IsolatedConfig::grace`] is killed and replaced. One whose model hangs while the process answers is not: its
///   requests end as `Timeout`.
/// - The worker has no environment but what the configuration gives it, no shell, and a process group of its own,
///   which is killed as a whole. It ends when this is dropped,
///   and when the host's process ends in any way, for its standard input ends then. One that somebody has stopped
///   (SIGSTOP) when the host's process ends notices it when it goes on.
/// - A file that was replaced by another model since the first loading is `Conflict`.
pub struct IsolatedLlama {
    client: Client,
    capabilities: ModelCapabilities,
    count_limit: Duration,
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
    /// Starts a worker and waits until it has loaded the model. A relative path is seen from where the host is now,
    /// also when the worker is started anew.
    ///
    /// # Errors
    /// Those of [`LlamaCpp::load`](crate::LlamaCpp::load), as they are; and
    /// - `NotFound`: no executable of the worker.
    /// - `Unsupported`: a worker of another version.
    /// - `Unavailable`: the worker cannot be started, died while it loaded, took longer than
    ///   [`IsolatedConfig::load_limit`], or is another program.
    pub fn load(config: IsolatedConfig) -> Result<Arc<Self>> {
        let count_limit = config.count_limit;
        let (client, loaded) = Client::start(config.for_load(Load::Model))?;
        let Loaded::Model(capabilities) = loaded else {
            return Err(unexpected(protocol::LOAD_MODEL));
        };
        Ok(Arc::new(Self {
            client,
            capabilities,
            count_limit,
        }))
    }

    /// The process id of the present worker; none while there is none.
    pub fn process_id(&self) -> Option<u32> {
        self.client.process_id()
    }

    /// As [`LlamaCpp::require_tokens`](crate::LlamaCpp::require_tokens); blocks for a moment.
    ///
    /// # Errors
    /// `Unsupported`, with the texts that are not; `Unavailable` or `Timeout` where the worker does not answer.
    pub fn require_tokens(&self, texts: &[&str]) -> Result<()> {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        self.client
            .ask_now(REQUIRE_TOKENS, REQUIRE_LIMIT, Ask::RequireTokens { texts })
            .map(drop)
    }

    fn ask_vocabulary(&self, text: &str, ask: impl FnOnce(String) -> Ask) -> Option<Answer> {
        let asked = (text.len() <= MOST_COUNTED).then(|| ask(text.to_owned()))?;
        self.client.ask_now(COUNT, self.count_limit, asked).ok()
    }
}

/// The worker answered something else than it was asked.
fn unexpected(operation: &'static str) -> Error {
    Error::new(
        ErrorKind::Internal,
        operation,
        "the worker process answered another question",
    )
    .hint("use the worker that was built with this host")
}

#[async_trait]
impl LanguageModel for IsolatedLlama {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        // JSON has no word for numbers that are none.
        sampling::check(GENERATE, &request.sampling)?;
        let ask = Ask::Generate(Generate::of(request));
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
}

#[async_trait]
impl Scorer for IsolatedLlama {
    fn model(&self) -> &ModelId {
        &self.capabilities.model
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let ask = Ask::Score(Score::of(request));
        match self
            .client
            .ask(SCORE, request.time_limit, ask, None)
            .await?
        {
            Answer::Scores(scores) => Ok(scores),
            _ => Err(unexpected(SCORE)),
        }
    }
}

/// The worker is asked, and the caller blocked, for at most [`IsolatedConfig::count_limit`]. Where it does not answer,
/// and for a text of more than 1 MiB, the count is the text's bytes, marked as an estimate: the most tokens that a text
/// can have, so that what fits by it fits. A cut then keeps as many bytes as it may have tokens.
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
