//! The configuration of a server's model.

use std::{
    fmt,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    time::Duration,
};

use journeyman::{
    Error, Result, Seed,
    domain::{Message, Prompt, Speaker},
};
use reqwest::Url;

/// The operation that errors of connecting name.
pub(crate) const CONNECT: &str = "OpenAi::connect";

/// A server's key. It is sent in the header `Authorization` and never printed.
///
/// ```
/// use journeyman_openai::ApiKey;
///
/// let key = ApiKey::new("not-for-print")?;
/// assert_eq!(format!("{key:?}"), "ApiKey(..)");
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key as the server's owner gives it.
    ///
    /// # Errors
    /// `Invalid` for a key shorter than 8 bytes, or with a character that no HTTP header can carry. The error does not
    /// repeat the key.
    pub fn new(key: impl Into<String>) -> Result<Self> {
        let key = key.into();
        let fits = key.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
        if key.len() < 8 || !fits {
            return Err(Error::invalid(
                "ApiKey::new",
                "the key is shorter than 8 bytes, or has blanks or control characters",
            )
            .hint("give the key alone, without quotes, blanks or a line break at its end"));
        }
        Ok(Self(key))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

/// The endpoint that writes texts.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// `/chat/completions`: the server renders the messages by the model's chat template.
    #[default]
    Chat,
    /// `/completions`: the contents of the messages are joined. For prompts in the model's own prompt format.
    Completions,
}

/// The request that gives the log-probability of a given text.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scoring {
    /// The first form that the server answers soundly when it is probed.
    #[default]
    Probe,
    /// This form; connecting fails where the server does not answer it soundly.
    Form(ScoringForm),
    /// None: the server is not probed for it, and a score is `Unsupported`.
    Off,
}

/// A form of the request for log-probabilities of a given text.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoringForm {
    /// `/completions` with token ids, `echo`, `logprobs` and `max_tokens` 0, or 1 where the server refuses 0 (vLLM).
    EchoIds,
    /// `/completions` with a text, `echo`, `logprobs` and `max_tokens` 1; prefix and continuation are told apart by the
    /// ids of `/extras/tokenize` (llama-cpp-python). The text must begin with the vocabulary's BOS token, which most
    /// vocabularies add; else the server scores other tokens than it names, and the request is refused.
    EchoText,
    /// `/generate` with `input_ids` and `return_logprob` (SGLang).
    Generate,
    /// `/completions` with token ids, one request a token: `logit_bias` forces the token and `logprobs` gives its
    /// log-probability before that (llama-server). The server's prompt cache makes each request one step of the model.
    Forced,
}

impl fmt::Display for ScoringForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EchoIds => "/completions that echoes token ids",
            Self::EchoText => "/completions that echoes a text",
            Self::Generate => "/generate",
            Self::Forced => "/completions with one forced token a request",
        })
    }
}

/// Limits on the duration of a request.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Until the connection stands (5 s).
    pub connect: Duration,
    /// From the sending of the request to the first byte of the answer, with the time to connect (60 s).
    pub first_byte: Duration,
    /// Between two pieces of the answer (30 s).
    pub idle: Duration,
    /// For the whole call, retries and waiting for a free place included (300 s). A request's own `time_limit` applies
    /// where it is shorter.
    pub total: Duration,
}

impl Deadlines {
    /// The same with another time for connecting.
    #[must_use]
    pub fn with_connect(mut self, connect: Duration) -> Self {
        self.connect = connect;
        self
    }

    /// The same with another time for the first byte.
    #[must_use]
    pub fn with_first_byte(mut self, first_byte: Duration) -> Self {
        self.first_byte = first_byte;
        self
    }

    /// The same with another time without a byte.
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// The same with another time for the whole.
    #[must_use]
    pub fn with_total(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(300),
        }
    }
}

/// Retries of a request that failed before any of its text reached a sink.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Greatest number of attempts, the first included (4).
    pub attempts: NonZeroU32,
    /// Greatest wait before the second attempt; it doubles with each further one (500 ms). The wait is drawn uniformly
    /// between zero and this ("full jitter"), and is at least the server's `Retry-After`.
    pub first_wait: Duration,
    /// Greatest wait that is drawn (20 s).
    pub longest_wait: Duration,
    /// The seed of the drawn waits.
    pub seed: Seed,
}

impl Retries {
    /// The same with another number of attempts.
    #[must_use]
    pub fn with_attempts(mut self, attempts: NonZeroU32) -> Self {
        self.attempts = attempts;
        self
    }

    /// The same with another first wait.
    #[must_use]
    pub fn with_first_wait(mut self, first_wait: Duration) -> Self {
        self.first_wait = first_wait;
        self
    }

    /// The same with another longest wait.
    #[must_use]
    pub fn with_longest_wait(mut self, longest_wait: Duration) -> Self {
        self.longest_wait = longest_wait;
        self
    }

    /// The same with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: NonZeroU32::MIN.saturating_add(3),
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            seed: Seed(0),
        }
    }
}

/// The price of tokens and the greatest cost, in one currency.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostLimit {
    /// Greatest cost of all requests together.
    pub limit: f64,
    /// Price of a million tokens of prompt.
    pub input_per_million: f64,
    /// Price of a million written tokens.
    pub output_per_million: f64,
}

impl CostLimit {
    /// A limit, and the price of a million tokens of input and of output, all in one currency.
    pub const fn new(limit: f64, input_per_million: f64, output_per_million: f64) -> Self {
        Self {
            limit,
            input_per_million,
            output_per_million,
        }
    }
}

/// What one connection may use, over all its requests. No limit where `None`.
///
/// Each attempt reserves the greatest amount that it can take, and returns the rest when the server has told its usage. An
/// attempt that was cut off keeps its reservation, since the server may have charged it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Greatest number of tokens, of prompts and written texts together.
    pub tokens: Option<NonZeroU64>,
    /// Greatest cost.
    pub cost: Option<CostLimit>,
}

impl Budget {
    /// The same with a greatest number of tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: impl Into<Option<NonZeroU64>>) -> Self {
        self.tokens = tokens.into();
        self
    }

    /// The same with a limit of cost.
    #[must_use]
    pub fn with_cost(mut self, cost: impl Into<Option<CostLimit>>) -> Self {
        self.cost = cost.into();
        self
    }
}

/// The configuration of a server's model. Create it with [`Config::new`], then set its fields. Defaults are in
/// parentheses.
///
/// ```
/// use journeyman_openai::{ApiKey, Config, Route};
///
/// let mut config = Config::new("http://127.0.0.1:8000/v1", "qwen3-8b");
/// config.key = Some(ApiKey::new("local-test-key")?);
/// config.route = Route::Completions;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone)]
pub struct Config {
    /// The address below which `/models` lies, such as `http://127.0.0.1:8000/v1`; without a user name and password.
    pub base_url: String,
    /// The model's name, as `/models` lists it.
    pub model: String,
    /// The server's key (none).
    pub key: Option<ApiKey>,
    /// Greatest number of tokens of prompt and output together (as the server says; connecting fails where it says
    /// nothing).
    pub context: Option<NonZeroUsize>,
    /// The endpoint that writes texts (chat).
    pub route: Route,
    /// How given texts are scored (probed).
    pub scoring: Scoring,
    /// Whether the server continues a last message of the assistant, which [`Prompt::open`](journeyman::domain::Prompt)
    /// needs on the chat route (as is known of the server's kind; `false` for an unknown kind).
    pub continues: Option<bool>,
    /// Spellings of the model's special tokens beside the usual ones (none): where the server has no endpoint that
    /// tokenizes without them, they are made harmless in data.
    pub marks: Vec<String>,
    /// Prompts behind which the probe lets the model write some tokens, one after the other until it writes plain text
    /// (three of ordinary words). The probe of scores holds these tokens' log-probabilities against their scores. Give
    /// prompts of your own for a model that writes only special tokens behind ordinary words.
    pub known: Vec<Prompt>,
    /// The limits on durations.
    pub deadlines: Deadlines,
    /// The retries.
    pub retries: Retries,
    /// Requests in flight at once (8); more wait, and their wait counts towards their deadlines.
    pub concurrency: NonZeroUsize,
    /// Greatest length of one answer in bytes (8 MiB); a longer one is refused while it is read.
    pub largest_response: NonZeroUsize,
    /// What all requests together may use (no limit).
    pub budget: Budget,
    /// The address of a proxy (none; the environment is not asked).
    pub proxy: Option<String>,
}

/// Without the proxy's address, which may hold a password.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field(
                "base_url",
                &self.address().map(String::from).unwrap_or_default(),
            )
            .field("model", &self.model)
            .field("key", &self.key)
            .field("context", &self.context)
            .field("route", &self.route)
            .field("scoring", &self.scoring)
            .field("continues", &self.continues)
            .field("marks", &self.marks)
            .field("known", &self.known)
            .field("deadlines", &self.deadlines)
            .field("retries", &self.retries)
            .field("concurrency", &self.concurrency)
            .field("largest_response", &self.largest_response)
            .field("budget", &self.budget)
            .field("has_proxy", &self.proxy.is_some())
            .finish()
    }
}

impl Config {
    /// The defaults for a model of a server.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            context: None,
            route: Route::default(),
            scoring: Scoring::default(),
            continues: None,
            marks: Vec::new(),
            known: known(),
            deadlines: Deadlines::default(),
            retries: Retries::default(),
            concurrency: NonZeroUsize::MIN.saturating_add(7),
            largest_response: NonZeroUsize::MIN.saturating_add((8 << 20) - 1),
            budget: Budget::default(),
            proxy: None,
        }
    }

    /// Refuses values out of range, and returns the base address with a slash at its end.
    pub(crate) fn check(&self) -> Result<Url> {
        let refused = |field: &'static str, why: &str, hint: &'static str| {
            Err(Error::invalid(CONNECT, format!("{field} {why}"))
                .with("field", field)
                .hint(hint))
        };
        let deadlines = [
            ("deadlines.connect", self.deadlines.connect),
            ("deadlines.first_byte", self.deadlines.first_byte),
            ("deadlines.idle", self.deadlines.idle),
            ("deadlines.total", self.deadlines.total),
        ];
        for (field, deadline) in deadlines {
            if deadline.is_zero() || deadline > Duration::from_secs(86_400) {
                return refused(
                    field,
                    "is out of range",
                    "a deadline is longer than 0 and at most a day",
                );
            }
        }
        if self.model.is_empty() {
            return refused("model", "is empty", "name the model as `/models` lists it");
        }
        if self.known.is_empty() {
            return refused("known", "is empty", "give one prompt at least");
        }
        if let Some(cost) = self.budget.cost {
            let prices = [cost.limit, cost.input_per_million, cost.output_per_million];
            if !prices
                .iter()
                .all(|price| price.is_finite() && *price >= 0.0)
            {
                return refused(
                    "budget.cost",
                    "has a number out of range",
                    "limit and prices are finite and not negative",
                );
            }
        }
        self.address()
    }

    fn address(&self) -> Result<Url> {
        // The address is not repeated: it may hold a password.
        let refused = |why: &str| {
            Error::invalid(CONNECT, format!("base_url {why}"))
                .with("field", "base_url")
                .hint(
                    "give an address such as http://127.0.0.1:8000/v1, and the key in Config::key",
                )
        };
        let mut url = Url::parse(&self.base_url).map_err(|_| refused("is no address"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(refused("is no address of http or https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("holds a user name or a password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("holds a query or a fragment"));
        }
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Ok(url)
    }
}

/// Ordinary words, in every vocabulary.
fn known() -> Vec<Prompt> {
    let texts = [
        "one two three one two three one",
        "The sun rises in the east and sets in the",
        "a b c d e f g h",
    ];
    let prompt = |text: &str| Prompt::new(vec![Message::data(Speaker::User, text)]);
    texts.map(prompt).to_vec()
}
