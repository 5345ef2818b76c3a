//! A generation's answer, from a stream of events or as one JSON object.

use std::collections::BTreeMap;

use journeyman::{
    contract::FinishReason,
    domain::TokenId,
    text::{TextStream, WrittenCall},
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{budget::Usage, error::OpenAiError, http::explained};

/// One event of a stream, or a whole answer. Chat and completions share it.
#[derive(Debug, Deserialize)]
pub(crate) struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<CountedUsage>,
    error: Option<Value>,
    prompt_token_ids: Option<Vec<TokenId>>,
}

#[derive(Debug, Deserialize)]
struct CountedUsage {
    #[serde(default)]
    prompt_tokens: u64,
    completion_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    text: Option<String>,
    delta: Option<Piece>,
    message: Option<Piece>,
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
    content: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

/// A call, or a piece of one in a stream. The first piece has id and name, later ones go on with the arguments.
#[derive(Debug, Deserialize)]
struct CallPiece {
    /// Which call it belongs to; absent in a whole answer.
    index: Option<usize>,
    id: Option<String>,
    function: Option<CalledFunction>,
}

#[derive(Debug, Deserialize)]
struct CalledFunction {
    name: Option<String>,
    /// JSON as a text; some servers give the object itself.
    arguments: Option<Value>,
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
    /// The tool calls by index.
    calls: BTreeMap<usize, WrittenCall>,
    /// Number of pieces of text and calls: an estimate of the number of tokens where the server gives none.
    pub(crate) pieces: u64,
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
            calls: BTreeMap::new(),
            pieces: 0,
        }
    }

    /// Takes in an event; true when a stop text is complete, and nothing more is needed.
    pub(crate) fn absorb(&mut self, chunk: Chunk) -> Result<bool, OpenAiError> {
        if let Some(error) = chunk.error {
            return Err(refused(&error));
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.completion_tokens.map(|output| Usage {
                input: usage.prompt_tokens,
                output,
            });
        } else if chunk.choices.is_none() {
            return Err(OpenAiError::shape("it has no choices"));
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
        let mut text = choice.text;
        for piece in choice.delta.into_iter().chain(choice.message) {
            text = text.or(piece.content);
            self.call(piece.tool_calls.into_iter().flatten());
        }
        let text = text.unwrap_or_default();
        let mut is_stopped = false;
        if !text.is_empty() {
            self.pieces += 1;
            is_stopped = self.stream.push(text.as_bytes());
        }
        let reported = choice.stop_reason.or(choice.matched_stop);
        self.stop_reported |= reported.is_some();
        if let Some(reason) = choice.finish_reason {
            let by_text = reported.is_some_and(|reported| reported.is_string());
            self.finish = Some(finish(&reason, by_text)?);
        }
        if is_stopped {
            self.finish = Some(FinishReason::Stop);
        }
        Ok(is_stopped)
    }

    fn call(&mut self, pieces: impl Iterator<Item = CallPiece>) {
        for (at, piece) in pieces.enumerate() {
            self.pieces += 1;
            let call = self.calls.entry(piece.index.unwrap_or(at)).or_default();
            if let Some(id) = piece.id.filter(|_| call.id.is_empty()) {
                call.id = id;
            }
            let Some(function) = piece.function else {
                continue;
            };
            // Some servers repeat the name in each piece.
            if let Some(name) = function.name.filter(|_| call.tool.is_empty()) {
                call.tool = name;
            }
            match function.arguments {
                Some(Value::String(text)) => call.arguments.push_str(&text),
                Some(Value::Null) | None => {}
                Some(whole) => call.arguments = whole.to_string(),
            }
        }
    }

    /// The calls in order.
    pub(crate) fn take_calls(&mut self) -> Vec<WrittenCall> {
        std::mem::take(&mut self.calls).into_values().collect()
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

fn finish(reason: &str, by_text: bool) -> Result<FinishReason, OpenAiError> {
    match reason {
        "stop" if by_text => Ok(FinishReason::Stop),
        "stop" | "tool_calls" | "function_call" => Ok(FinishReason::EndOfText),
        "length" => Ok(FinishReason::Length),
        "content_filter" => Err(OpenAiError::shape(
            "the server's content filter ended the text",
        )),
        "abort" | "error" => Err(OpenAiError::Broken {
            said: "the server gave up the text".to_owned(),
        }),
        _ => Err(OpenAiError::shape("its finish_reason is unknown")),
    }
}

/// An error within a stream, whose status was 200 already.
fn refused(error: &Value) -> OpenAiError {
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
