//! A generation's answer, from a stream of events or as one JSON object.

use journeyman::{
    contract::FinishReason,
    domain::TokenId,
    text::{TextStream, WrittenCall},
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{
    budget::Usage,
    error::OpenAiError,
    http::explained,
    pieces::{CallPiece, CalledFunction, Calls, Said, forgiven, said},
};

/// How much of a model's thoughts is kept, in bytes.
const MOST_THOUGHTS: usize = 64 * 1024;

/// One event of a stream, or a whole answer. Chat and completions share it.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk {
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "forgiven")]
    usage: Option<CountedUsage>,
    error: Option<Value>,
    prompt_token_ids: Option<Vec<TokenId>>,
}

#[derive(Debug, Deserialize)]
struct CountedUsage {
    #[serde(default)]
    prompt_tokens: f64,
    completion_tokens: f64,
}

#[derive(Debug, Deserialize)]
struct Choice {
    text: Option<String>,
    delta: Option<Piece>,
    message: Option<Piece>,
    #[serde(default, deserialize_with = "forgiven")]
    finish_reason: Option<String>,
    /// vLLM: the stop text or token, null for the model's own end.
    #[serde(default, deserialize_with = "present")]
    stop_reason: Option<Value>,
    /// SGLang's name for it.
    #[serde(default, deserialize_with = "present")]
    matched_stop: Option<Value>,
    logprobs: Option<Logprobs>,
    token_ids: Option<Vec<TokenId>>,
    prompt_token_ids: Option<Vec<TokenId>>,
}

#[derive(Debug, Deserialize)]
struct Piece {
    /// A text, or parts.
    #[serde(default)]
    content: Value,
    /// Thoughts, as most servers name them.
    #[serde(default)]
    reasoning_content: Value,
    /// And as newer ones do.
    #[serde(default)]
    reasoning: Value,
    #[serde(default, deserialize_with = "forgiven")]
    tool_calls: Option<Vec<CallPiece>>,
    /// The form before `tool_calls`: one call.
    #[serde(default, deserialize_with = "forgiven")]
    function_call: Option<CalledFunction>,
}

/// Log-probabilities of written tokens in chat's form or that of completions.
#[derive(Debug, Deserialize)]
struct Logprobs {
    content: Option<Vec<TokenLogprob>>,
    token_logprobs: Option<Vec<Option<f64>>>,
}

#[derive(Debug, Deserialize)]
struct TokenLogprob {
    /// llama-server gives it.
    id: Option<TokenId>,
    logprob: f64,
}

/// Tells an absent field from null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) stream: TextStream,
    pub(crate) finish: Option<FinishReason>,
    /// Whether the server says which stop text it found.
    pub(crate) stop_reported: bool,
    pub(crate) usage: Option<Usage>,
    pub(crate) prompt_ids: Vec<TokenId>,
    pub(crate) ids: Vec<TokenId>,
    pub(crate) logprobs: Vec<f32>,
    /// The model's thoughts, where the server gives them beside the text: the beginning.
    pub(crate) thoughts: String,
    calls: Calls,
    /// Number of pieces of text and calls: an estimate of the number of tokens where the server gives none.
    pub(crate) pieces: u64,
}

impl Chunk {
    /// Whether it says anything of an answer. Some servers send events of their own kind between those of the answer.
    pub(crate) fn is_answer(&self) -> bool {
        self.choices.is_some() || self.usage.is_some() || self.error.is_some()
    }
}

impl Answer {
    pub(crate) fn new(stream: TextStream) -> Self {
        Self {
            stream,
            finish: None,
            stop_reported: false,
            usage: None,
            prompt_ids: Vec::new(),
            ids: Vec::new(),
            logprobs: Vec::new(),
            thoughts: String::new(),
            calls: Calls::default(),
            pieces: 0,
        }
    }

    /// Takes in an event; true when a stop text is complete, and nothing more is needed.
    pub(crate) fn absorb(&mut self, chunk: Chunk) -> Result<bool, OpenAiError> {
        if let Some(error) = chunk.error {
            return Err(refused(&error));
        }
        if let Some(usage) = chunk.usage {
            self.usage = counted(&usage);
        }
        self.prompt_ids
            .extend(chunk.prompt_token_ids.into_iter().flatten());
        let Some(choice) = chunk.choices.into_iter().flatten().next() else {
            return Ok(false);
        };
        self.choice(choice)
    }

    fn choice(&mut self, choice: Choice) -> Result<bool, OpenAiError> {
        if self.prompt_ids.is_empty() {
            self.prompt_ids
                .extend(choice.prompt_token_ids.into_iter().flatten());
        }
        self.tokens(choice.logprobs, choice.token_ids)?;
        let mut text = choice.text.unwrap_or_default();
        for piece in choice.delta.into_iter().chain(choice.message) {
            let Said { words, thoughts } = said(&piece.content);
            if text.is_empty() {
                text = words;
            }
            self.think(&thoughts);
            self.think(&said(&piece.reasoning_content).words);
            self.think(&said(&piece.reasoning).words);
            let mut calls = piece.tool_calls.unwrap_or_default();
            // llama-cpp-python gives the same call in both forms.
            if calls.is_empty() {
                calls.extend(piece.function_call.map(|function| CallPiece {
                    function: Some(function),
                    ..CallPiece::default()
                }));
            }
            self.pieces += self.calls.take_in(calls.into_iter());
        }
        let mut is_stopped = false;
        if !text.is_empty() {
            self.pieces += 1;
            is_stopped = self.stream.push(text.as_bytes());
        }
        let reported = choice.stop_reason.or(choice.matched_stop);
        self.stop_reported |= reported.is_some();
        if let Some(reason) = choice.finish_reason {
            let by_text = reported.is_some_and(|reported| reported.is_string());
            self.finish = finish(&reason, by_text)?.or(self.finish);
        }
        if is_stopped {
            self.finish = Some(FinishReason::Stop);
        }
        Ok(is_stopped)
    }

    fn think(&mut self, thoughts: &str) {
        let room = MOST_THOUGHTS.saturating_sub(self.thoughts.len());
        let kept = &thoughts[..thoughts.floor_char_boundary(room)];
        self.thoughts.push_str(kept);
        self.pieces += u64::from(!thoughts.is_empty());
    }

    /// The calls in order.
    pub(crate) fn take_calls(&mut self) -> Vec<WrittenCall> {
        std::mem::take(&mut self.calls).into_written()
    }

    fn tokens(
        &mut self,
        logprobs: Option<Logprobs>,
        ids: Option<Vec<TokenId>>,
    ) -> Result<(), OpenAiError> {
        self.ids.extend(ids.into_iter().flatten());
        let Some(logprobs) = logprobs else {
            return Ok(());
        };
        for token in logprobs.content.into_iter().flatten() {
            self.ids.extend(token.id);
            self.logprobs.push(sound(Some(token.logprob))? as f32);
        }
        for logprob in logprobs.token_logprobs.into_iter().flatten() {
            self.logprobs.push(sound(logprob)? as f32);
        }
        Ok(())
    }
}

/// A log-probability that can be one: finite, and at most 0 but for rounding.
pub(crate) fn sound(logprob: Option<f64>) -> Result<f64, OpenAiError> {
    match logprob {
        Some(logprob) if logprob.is_finite() && logprob <= 1e-4 => Ok(logprob.min(0.0)),
        Some(logprob) => Err(OpenAiError::shape(format!(
            "{logprob} is no log-probability"
        ))),
        None => Err(OpenAiError::shape("a log-probability is missing")),
    }
}

/// Why the text ended; `None` where the reason says nothing, as the empty one does that some servers send with each piece.
fn finish(reason: &str, by_text: bool) -> Result<Option<FinishReason>, OpenAiError> {
    match reason {
        "stop" if by_text => Ok(Some(FinishReason::Stop)),
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => {
            Ok(Some(FinishReason::Length))
        }
        "content_filter" => Err(OpenAiError::shape(
            "the server's content filter ended the text",
        )),
        "abort" | "error" => Err(OpenAiError::Broken {
            said: "the server gave up the text".to_owned(),
        }),
        "" => Ok(None),
        // `stop`, `tool_calls`, `tool_use`, `eos`: servers have many words for a model that has ended.
        _ => Ok(Some(FinishReason::EndOfText)),
    }
}

/// The counted tokens, where they are numbers of tokens.
fn counted(usage: &CountedUsage) -> Option<Usage> {
    let count = |tokens: f64| {
        let is_count = tokens >= 0.0 && tokens <= f64::from(u32::MAX) && tokens.fract() == 0.0;
        is_count.then_some(tokens as u64)
    };
    Some(Usage {
        input: count(usage.prompt_tokens)?,
        output: count(usage.completion_tokens)?,
    })
}

/// An error within a stream, whose status was 200 already.
pub(crate) fn refused(error: &Value) -> OpenAiError {
    let status = error.get("code").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let (code, said) = explained(error);
    OpenAiError::Status {
        status: status
            .filter(|status| (400..600).contains(status))
            .unwrap_or(500),
        code,
        said,
        retry_after: None,
    }
}
