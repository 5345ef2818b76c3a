//! The same model in a process of its own.

mod adapters;
mod config;
mod keeper;
mod process;
mod protocol;
mod serve;

use std::{
    env, fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures::{
    channel::oneshot,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::{
    Error, ErrorKind, ModelId, Result,
    contract::{
        GenerateRequest, Generation, LanguageModel, ModelCapabilities, ScoreRequest, Scorer,
        TokenCount, TokenScores, TokenSink, Tokenizer,
    },
};

pub use config::IsolatedConfig;
pub use serve::run_worker;

use self::{
    keeper::{Event, Keeper, Pending, Reply},
    protocol::{Answer, Ask, Generate, Score, ToWorker, request_frame},
};
use crate::{
    convert::{timed_out, worker_failed},
    generate::GENERATE,
    queue::LONGEST_WAIT,
    sampling,
    score::SCORE,
};

const LOAD: &str = "IsolatedLlama::load";
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
    events: Sender<Event>,
    keeper: Option<JoinHandle<()>>,
    next: AtomicU64,
    process_id: Arc<AtomicU32>,
    capabilities: ModelCapabilities,
    grace: Duration,
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
        let program = config.program()?;
        let folder = env::current_dir().map_err(|error| {
            Error::new(
                ErrorKind::Unavailable,
                LOAD,
                "the current folder is not there",
            )
            .hint("start the host in a folder that stays")
            .source_from(error)
        })?;
        let (grace, count_limit) = (config.grace, config.count_limit);
        let (events, inbox) = mpsc::channel();
        let (first, loaded) = mpsc::channel();
        let process_id = Arc::new(AtomicU32::new(0));
        let keeper = Keeper::new(
            config,
            program,
            folder,
            events.clone(),
            process_id.clone(),
            first,
        );
        let keeper = thread::Builder::new()
            .name("llama-keeper".to_owned())
            .spawn(move || keeper.run(&inbox))
            .map_err(|error| {
                worker_failed(LOAD, "the system starts no thread").source_from(error)
            })?;
        let capabilities = loaded
            .recv()
            .unwrap_or_else(|_| Err(worker_failed(LOAD, "the worker did not start")))?;
        Ok(Arc::new(Self {
            events,
            keeper: Some(keeper),
            next: AtomicU64::new(0),
            process_id,
            capabilities,
            grace,
            count_limit,
        }))
    }

    /// The process id of the present worker; none while there is none.
    pub fn process_id(&self) -> Option<u32> {
        let id = self.process_id.load(Ordering::Relaxed);
        (id != 0).then_some(id)
    }

    /// As [`LlamaCpp::require_tokens`](crate::LlamaCpp::require_tokens); blocks for a moment.
    ///
    /// # Errors
    /// `Unsupported`, with the texts that are not; `Unavailable` or `Timeout` where the worker does not answer.
    pub fn require_tokens(&self, texts: &[&str]) -> Result<()> {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        self.ask_now(REQUIRE_TOKENS, REQUIRE_LIMIT, Ask::RequireTokens { texts })
            .map(drop)
    }

    /// Asks and waits, at most `limit`. Dropping the future takes the request back.
    async fn ask(
        &self,
        operation: &'static str,
        limit: Duration,
        ask: Ask,
        sink: Option<Arc<dyn TokenSink>>,
    ) -> Result<Answer> {
        let (reply, answer) = oneshot::channel();
        let reply = Box::new(move |given| {
            // Nobody waits any more: then nobody needs it.
            let _ = reply.send(given);
        });
        let mut taken_back = self.send(operation, limit, ask, sink, true, reply)?;
        match select(answer, Delay::new(limit.min(LONGEST_WAIT))).await {
            Either::Left((answer, _)) => {
                taken_back.answered = true;
                answer.unwrap_or_else(|_| Err(gone(operation)))
            }
            Either::Right(_) => Err(timed_out(operation, limit)),
        }
    }

    /// Asks the vocabulary and blocks, at most `limit`; does not wait for a worker that is being started.
    fn ask_now(&self, operation: &'static str, limit: Duration, ask: Ask) -> Result<Answer> {
        let (reply, answer) = mpsc::channel();
        let reply = Box::new(move |given| {
            let _ = reply.send(given);
        });
        let _taken_back = self.send(operation, limit, ask, None, false, reply)?;
        answer.recv_timeout(limit).unwrap_or_else(|why| {
            Err(match why {
                mpsc::RecvTimeoutError::Timeout => timed_out(operation, limit),
                mpsc::RecvTimeoutError::Disconnected => gone(operation),
            })
        })
    }

    fn ask_vocabulary(&self, text: &str, ask: impl FnOnce(String) -> Ask) -> Option<Answer> {
        let asked = (text.len() <= MOST_COUNTED).then(|| ask(text.to_owned()))?;
        self.ask_now(COUNT, self.count_limit, asked).ok()
    }

    fn send(
        &self,
        operation: &'static str,
        limit: Duration,
        ask: Ask,
        sink: Option<Arc<dyn TokenSink>>,
        patient: bool,
        reply: Reply,
    ) -> Result<TakenBack> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let change = ask.change();
        let frame = request_frame(operation, &ToWorker::Ask { id, ask })?;
        let pending = Pending {
            operation,
            change,
            frame: Some(frame),
            patient,
            reply: Some(reply),
            sink,
            kill_at: Instant::now()
                .checked_add(limit.saturating_add(self.grace))
                .filter(|_| patient),
        };
        (self.events.send(Event::Ask(id, pending))).map_err(|_| gone(operation))?;
        Ok(TakenBack {
            id,
            events: self.events.clone(),
            answered: false,
        })
    }
}

impl Drop for IsolatedLlama {
    fn drop(&mut self) {
        let _ = self.events.send(Event::Close);
        let Some(keeper) = self.keeper.take() else {
            return;
        };
        // A token sink may hold the last handle: its thread cannot wait for itself.
        if keeper.thread().id() != thread::current().id() {
            let _ = keeper.join();
        }
    }
}

/// Takes a request back when it is dropped, unless it was answered.
struct TakenBack {
    id: u64,
    events: Sender<Event>,
    answered: bool,
}

impl Drop for TakenBack {
    fn drop(&mut self) {
        if !self.answered {
            let _ = self.events.send(Event::Cancel(self.id));
        }
    }
}

fn gone(operation: &'static str) -> Error {
    worker_failed(operation, "the worker process is not there just now")
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
        match self.ask(GENERATE, request.time_limit, ask, sink).await? {
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
        match self.ask(SCORE, request.time_limit, ask, None).await? {
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
