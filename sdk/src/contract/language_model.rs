//! A language model that generates text.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{TokenCount, ToolChoice};
use crate::{
    domain::{GenerationRecord, NativeCall, Prompt, Sampling, TokenId, ToolDefinition},
    error::{Error, Result},
    id::ModelId,
};

/// A model's capabilities.
///
/// ```
/// use std::time::Duration;
/// use journeyman::contract::ModelCapabilities;
///
/// let mut capabilities = ModelCapabilities::new("smollm2-135m".into(), 8_192);
/// capabilities.tools = true;
/// assert!(!capabilities.score);
/// // Nobody measured its speed, so a limit stays as it is.
/// let minute = Duration::from_secs(60);
/// assert_eq!(capabilities.time_limit(minute, 512), minute);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCapabilities {
    /// The model.
    pub model: ModelId,
    /// Greatest number of tokens of prompt and output together.
    pub context: usize,
    /// Whether the model gives the log-probability of a given text.
    pub score: bool,
    /// Whether generations carry token ids and log-probabilities.
    pub token_records: bool,
    /// Whether the model obeys a request's `json_schema` as it writes. A server may still ignore one: read the text as any other.
    pub json_schema: bool,
    /// Whether the model calls a request's `tools` by an interface of its own.
    #[serde(default)]
    pub tools: bool,
    /// Whether a request repeats to the byte whatever runs beside it. Where not, requests share batches, the shape of
    /// which changes the arithmetic: two texts of one request may part where two tokens are nearly tied.
    pub deterministic: bool,
    /// The model's speed, where it was measured; limits of time that nobody set grow with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<ModelSpeed>,
}

/// The speed of a model on its machine, for a single request.
///
/// ```
/// use std::time::Duration;
/// use journeyman::contract::ModelSpeed;
///
/// // 200 tokens a second are read, and 10 are written.
/// let speed = ModelSpeed::new(Duration::from_millis(5), Duration::from_millis(100));
/// assert_eq!((speed.reads_per_second(), speed.writes_per_second()), (200.0, 10.0));
/// // A prompt of 1,000 tokens and an answer of 500 take 55 seconds; the limit is four times that.
/// assert_eq!(speed.limit(1_000, 500), Duration::from_secs(220));
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSpeed {
    /// Time for a token of a prompt, in a batch.
    pub read_token: Duration,
    /// Time for a token that is written.
    pub write_token: Duration,
}

impl ModelSpeed {
    /// A speed, by the time for a token that is read and for one that is written.
    pub const fn new(read_token: Duration, write_token: Duration) -> Self {
        Self {
            read_token,
            write_token,
        }
    }
}

impl ModelSpeed {
    /// How many times longer than measured a request may take: it may share the machine with others.
    const LEEWAY: u32 = 4;

    /// Tokens of a prompt that are read in a second.
    pub fn reads_per_second(&self) -> f64 {
        1.0 / self.read_token.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Tokens that are written in a second.
    pub fn writes_per_second(&self) -> f64 {
        1.0 / self.write_token.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// A time limit that a request of this size keeps even where it shares the machine: four times what it takes alone.
    pub fn limit(&self, prompt_tokens: usize, max_tokens: usize) -> Duration {
        let times = |tokens: usize| u32::try_from(tokens).unwrap_or(u32::MAX);
        let read = self.read_token.saturating_mul(times(prompt_tokens));
        let written = self.write_token.saturating_mul(times(max_tokens));
        read.saturating_add(written).saturating_mul(Self::LEEWAY)
    }
}

impl ModelCapabilities {
    /// A model with none of the optional capabilities.
    pub fn new(model: ModelId, context: usize) -> Self {
        Self {
            model,
            context,
            score: false,
            token_records: false,
            json_schema: false,
            tools: false,
            deterministic: false,
            speed: None,
        }
    }

    /// The time limit of a request that nobody limits more: `least`, or what a slow model needs for a prompt of half its context
    /// and an answer of `max_tokens`.
    pub fn time_limit(&self, least: Duration, max_tokens: usize) -> Duration {
        let needed = self
            .speed
            .map(|speed| speed.limit(self.context / 2, max_tokens));
        needed.map_or(least, |needed| needed.max(least))
    }
}

/// Receives a text piece by piece as it is written.
///
/// ```
/// use std::sync::Mutex;
/// use journeyman::contract::TokenSink;
///
/// #[derive(Default)]
/// struct Shown(Mutex<String>);
///
/// impl TokenSink for Shown {
///     fn token(&self, text: &str) {
///         self.0.lock().unwrap().push_str(text);
///     }
/// }
///
/// let shown = Shown::default();
/// ["On the ", "desk."].iter().for_each(|piece| shown.token(piece));
/// assert_eq!(shown.0.lock().unwrap().as_str(), "On the desk.");
/// ```
pub trait TokenSink: Send + Sync {
    /// The next piece of text. Must not block.
    fn token(&self, text: &str);
}

/// A request for a text. As JSON it has everything but the `sink`.
///
/// ```
/// use journeyman::{contract::GenerateRequest, domain::{Message, Prompt, Speaker}};
///
/// let mut prompt = Prompt::default();
/// prompt.messages.push(Message::data(Speaker::User, "Where is the lamp?"));
/// let mut request = GenerateRequest::greedy(prompt, 64);
/// request.stop.push("\n".to_owned());
/// assert_eq!(request.sampling.temperature, 0.0);
/// assert!(request.estimated_prompt().estimated);
/// ```
#[non_exhaustive]
#[derive(Clone, Serialize, Deserialize)]
pub struct GenerateRequest {
    /// The prompt.
    pub prompt: Prompt,
    /// The sampling of tokens.
    pub sampling: Sampling,
    /// Greatest number of tokens to write.
    pub max_tokens: usize,
    /// Texts that end the generation; not part of the answer.
    pub stop: Vec<String>,
    /// Greatest duration of the call.
    pub time_limit: Duration,
    /// The adapter (LoRA) to write with, by the name that it was loaded under; the model alone if none.
    pub adapter: Option<String>,
    /// A JSON Schema that the text must obey as it is written. It comes from the host, never from a model's text.
    pub json_schema: Option<Value>,
    /// The tools that the model can call by its own interface, where its capabilities say `tools`. They come from the host, or
    /// from servers that it has approved.
    pub tools: Vec<ToolDefinition>,
    /// Which of `tools` the model calls. Without tools it means nothing.
    pub tool_choice: ToolChoice,
    /// Receives the text as it is written, where given.
    #[serde(skip)]
    pub sink: Option<Arc<dyn TokenSink>>,
}

impl GenerateRequest {
    /// A greedy request of at most `max_tokens` within a minute.
    pub fn greedy(prompt: Prompt, max_tokens: usize) -> Self {
        Self {
            prompt,
            sampling: Sampling::GREEDY,
            max_tokens,
            stop: Vec::new(),
            time_limit: Duration::from_secs(60),
            adapter: None,
            json_schema: None,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            sink: None,
        }
    }

    /// An estimate of the prompt's tokens, for a model whose tokenizer is out of reach: a token for three bytes of text and of the
    /// tools' definitions, and eight tokens for each message. English text and JSON have fewer, some scripts more.
    pub fn estimated_prompt(&self) -> TokenCount {
        let tools = self.tools.iter().map(|tool| {
            tool.name.len() + tool.description.len() + tool.input_schema.to_string().len()
        });
        let bytes = self.prompt.text().len() + tools.sum::<usize>();
        TokenCount {
            tokens: bytes.div_ceil(3) + 8 * self.prompt.messages.len(),
            estimated: true,
        }
    }

    /// Refuses tools, for a model that has no interface for them ([`ModelCapabilities::tools`]).
    ///
    /// ```
    /// use journeyman::{ErrorKind, contract::GenerateRequest, domain::{Prompt, ToolDefinition}};
    ///
    /// let mut request = GenerateRequest::greedy(Prompt::default(), 64);
    /// assert!(request.refuse_tools("Echo::generate").is_ok());
    /// let brew = ToolDefinition::new("brew", "Brews a coffee.", serde_json::json!({"type": "object"}));
    /// request.tools.push(brew);
    /// let error = request.refuse_tools("Echo::generate").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Unsupported);
    /// ```
    ///
    /// # Errors
    /// `Unsupported` for a request with tools.
    pub fn refuse_tools(&self, operation: &'static str) -> Result<()> {
        if self.tools.is_empty() {
            return Ok(());
        }
        Err(
            Error::unsupported(operation, "this model has no interface for tool calls").hint(
                "write the tools into the prompt and read the answer, as agent::ChatFormat does",
            ),
        )
    }
}

impl fmt::Debug for GenerateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenerateRequest")
            .field("prompt", &self.prompt)
            .field("sampling", &self.sampling)
            .field("max_tokens", &self.max_tokens)
            .field("stop", &self.stop)
            .field("time_limit", &self.time_limit)
            .field("adapter", &self.adapter)
            .field("json_schema", &self.json_schema)
            .field("tools", &self.tools)
            .field("tool_choice", &self.tool_choice)
            .finish_non_exhaustive()
    }
}

/// Why a generation ended.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended it.
    EndOfText,
    /// One of the stop texts came.
    Stop,
    /// The token limit or the context was used up.
    Length,
    /// The model wrote the same tokens again and again, and was ended.
    Repeats,
}

impl FinishReason {
    /// Why an answer cannot be used, with this reason beside it, in words for a model.
    pub(crate) fn explain(self, reason: String) -> String {
        match self {
            Self::Repeats => format!("{reason}; the answer says the same again and again"),
            _ => reason,
        }
    }

    /// Whether the model would have gone on.
    pub fn is_cut(self) -> bool {
        matches!(self, Self::Length | Self::Repeats)
    }
}

/// A model's answer to a [`GenerateRequest`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The text, without the stop text. Special tokens that the model wrote are spelled out.
    pub text: String,
    /// The tool calls, in order, checked against the schemas of the request's `tools`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<NativeCall>,
    /// The prompt's tokens; empty where the model does not give them.
    pub prompt_ids: Vec<TokenId>,
    /// The tokens written, those of a stop text included; empty where the model does not give them.
    pub ids: Vec<TokenId>,
    /// The log-probability (nats, at temperature 1) of each of `ids`.
    pub logprobs: Vec<f32>,
    /// The positions in `ids` of tokens that the adapter wrote and the model did not choose, such as the end of thoughts that
    /// were too long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<usize>,
    /// Number of tokens of the prompt.
    pub prompt_tokens: u64,
    /// Number of tokens written.
    pub output_tokens: u64,
    /// Why it ended.
    pub finish: FinishReason,
    /// The model that wrote it.
    pub model: ModelId,
    /// The adapter (LoRA) that it was written with, where the model chose one that the request does not name, as
    /// `agent::AdaptedModel` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
}

impl Generation {
    /// A text of a model that gives no tokens; both counts are estimates of four bytes a token.
    pub fn new(model: impl Into<ModelId>, prompt: &Prompt, text: impl Into<String>) -> Self {
        let text = text.into();
        let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
        Self {
            calls: Vec::new(),
            prompt_ids: Vec::new(),
            ids: Vec::new(),
            logprobs: Vec::new(),
            forced: Vec::new(),
            prompt_tokens: tokens(prompt.text().len()),
            output_tokens: tokens(text.len()),
            finish: FinishReason::EndOfText,
            model: model.into(),
            adapter: None,
            text,
        }
    }

    /// A text of a model that gives its tokens: those of the prompt, those that it wrote, and the log-probability of each of
    /// these. It has no calls and nothing forced, and it ended by itself.
    pub fn of_tokens(
        model: impl Into<ModelId>,
        text: impl Into<String>,
        prompt_ids: Vec<TokenId>,
        ids: Vec<TokenId>,
        logprobs: Vec<f32>,
    ) -> Self {
        Self {
            text: text.into(),
            calls: Vec::new(),
            prompt_tokens: prompt_ids.len() as u64,
            output_tokens: ids.len() as u64,
            prompt_ids,
            ids,
            logprobs,
            forced: Vec::new(),
            finish: FinishReason::EndOfText,
            model: model.into(),
            adapter: None,
        }
    }

    /// What a trainer needs of this answer to a request; `None` where the model gives no token ids or no log-probabilities.
    pub fn record(&self, request: &GenerateRequest) -> Option<GenerationRecord> {
        let whole = !self.ids.is_empty() && self.ids.len() == self.logprobs.len();
        whole.then(|| GenerationRecord {
            prompt_ids: self.prompt_ids.clone(),
            ids: self.ids.clone(),
            logprobs: self.logprobs.clone(),
            mask: (0..self.ids.len())
                .map(|place| !self.forced.contains(&place))
                .collect(),
            sampling: request.sampling,
            model: self.model.clone(),
            adapter: self.adapter.clone().or_else(|| request.adapter.clone()),
        })
    }
}

/// A language model that generates text.
///
/// ```
/// use journeyman::{Error, ErrorKind, Result, async_trait};
/// use journeyman::contract::{GenerateRequest, Generation, LanguageModel, ModelCapabilities};
/// use journeyman::domain::{Message, Prompt, Speaker};
///
/// /// Repeats the last message. It has no adapters, schemas and tools, and refuses requests for them.
/// #[derive(Debug)]
/// struct Echo(ModelCapabilities);
///
/// #[async_trait]
/// impl LanguageModel for Echo {
///     fn capabilities(&self) -> &ModelCapabilities {
///         &self.0
///     }
///
///     async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
///         let at = "Echo::generate";
///         request.refuse_tools(at)?;
///         if request.adapter.is_some() {
///             return Err(Error::new(ErrorKind::NotFound, at, "no adapter is loaded"));
///         }
///         if request.json_schema.is_some() {
///             return Err(Error::unsupported(at, "a schema cannot be enforced"));
///         }
///         let last = request.prompt.messages.last().map(Message::text).unwrap_or_default();
///         Ok(Generation::new(self.0.model.clone(), &request.prompt, last))
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let echo = Echo(ModelCapabilities::new("echo@1".into(), 4_096));
/// let prompt = Prompt::new(vec![Message::data(Speaker::User, "good day")]);
/// assert_eq!(echo.generate(&GenerateRequest::greedy(prompt, 64)).await?.text, "good day");
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *repeats*: the same request, seed included, gives the same text on the same machine and build; where the
///   capabilities do not say `deterministic`, up to tokens whose log-probabilities are within 1e-3.
/// - *limit*: at most `max_tokens` tokens are written, and then `finish` is `Length`.
/// - *stop*: the text holds none of the stop texts and ends before the first.
/// - *records*: with `token_records`, `ids` and `logprobs` have the length `output_tokens`, every
///   log-probability is finite and at most 0, and `prompt_ids` has the length `prompt_tokens`.
/// - *deadline*: a request over its `time_limit` ends in `Timeout`, within a second of it.
/// - *too long*: a prompt longer than the context is `Invalid`, with both lengths.
/// - *unsupported*: an adapter that is not loaded is `NotFound`; a `json_schema` where the capabilities do not say so, and tools where
///   they do not, are `Unsupported`: none is ignored.
/// - *tools*: where the capabilities say `tools`, the calls agree with `tool_choice`, and their arguments obey the tool's schema (a free
///   model's other calls stand in the text); a named tool that is not among `tools`, and two tools of one name, are `Invalid`.
/// - *cancel*: dropping the future stops the work; the model goes on serving others.
/// - *count*: `count_prompt` gives the `prompt_tokens` that a generation of the same request reports, or marks its number as an estimate;
///   for a prompt that is longer than the context it is above the context.
#[async_trait]
pub trait LanguageModel: fmt::Debug + Send + Sync {
    /// The model's capabilities.
    fn capabilities(&self) -> &ModelCapabilities;

    /// The tokens of the context as far as they are known now: a server's refusals may have told a shorter one.
    fn context(&self) -> usize {
        self.capabilities().context
    }

    /// Generates a text.
    ///
    /// # Errors
    /// `Invalid`, `Timeout`, `Unavailable`, `RateLimited` or `Model`.
    async fn generate(&self, request: &GenerateRequest) -> Result<Generation>;

    /// The tokens of a request's prompt as the model reads it: with its chat template and the request's tools. Callers count
    /// before they send, and shorten what does not fit. The default is an estimate of three bytes a token.
    ///
    /// # Errors
    /// Those of a prompt that `generate` refuses for another reason than its length; `Timeout` or `Unavailable` where the
    /// tokenizer is a server's.
    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        Ok(request.estimated_prompt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_model_gets_more_time_and_a_fast_one_no_less() {
        let minute = Duration::from_secs(60);
        let mut capabilities = ModelCapabilities::new("m".into(), 8_192);
        assert_eq!(capabilities.time_limit(minute, 512), minute);
        let speed = |read_ms, write_ms| ModelSpeed {
            read_token: Duration::from_millis(read_ms),
            write_token: Duration::from_millis(write_ms),
        };
        capabilities.speed = Some(speed(0, 1));
        assert_eq!(capabilities.time_limit(minute, 512), minute);
        // 4,096 tokens are read at 20 a second, 512 written at 2.
        capabilities.speed = Some(speed(50, 500));
        let needed = Duration::from_millis(4 * (4_096 * 50 + 512 * 500));
        assert_eq!(capabilities.time_limit(minute, 512), needed);
        let json = serde_json::to_string(&capabilities).unwrap();
        assert_eq!(
            serde_json::from_str::<ModelCapabilities>(&json).unwrap(),
            capabilities
        );
        // No number overflows.
        capabilities.context = usize::MAX;
        assert!(capabilities.time_limit(minute, usize::MAX) > needed);
    }
}
