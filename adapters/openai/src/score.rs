//! The log-probability of a given text.

use futures::future::try_join_all;
use journeyman::{
    ErrorKind,
    contract::{ScoreRequest, TokenScores},
    domain::{Prompt, Span, TokenId},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    answer::sound,
    budget::Usage,
    config::{Route, ScoringForm},
    error::OpenAiError,
    http::Place,
    retry::Deadline,
    server::Server,
    support::{ServerKind, TokenizerForm},
    tokens::{Written, token_ids},
};

pub(crate) const SCORE: &str = "OpenAi::score";

/// An answer to a request with `echo` and `logprobs`.
#[derive(Debug, Deserialize)]
struct Echo {
    choices: Vec<EchoChoice>,
}

#[derive(Debug, Deserialize)]
struct EchoChoice {
    logprobs: Option<EchoLogprobs>,
}

#[derive(Debug, Deserialize)]
struct EchoLogprobs {
    #[serde(default)]
    tokens: Vec<String>,
    token_logprobs: Vec<Option<f64>>,
    #[serde(default)]
    text_offset: Vec<usize>,
}

/// SGLang's answer: each entry is log-probability, id and perhaps text.
#[derive(Debug, Deserialize)]
struct Generated {
    meta_info: MetaInfo,
}

#[derive(Debug, Deserialize)]
struct MetaInfo {
    input_token_logprobs: Vec<(Option<f64>, TokenId, Option<Value>)>,
}

impl Server {
    pub(crate) async fn score(
        &self,
        request: &ScoreRequest,
        deadline: Deadline,
    ) -> Result<Vec<TokenScores>, OpenAiError> {
        if request.continuations.is_empty() {
            return Ok(Vec::new());
        }
        let Some(form) = self.support.scoring else {
            let tried = self.support.declined.iter();
            let tried: Vec<String> = tried
                .filter(|declined| declined.tried.starts_with("score"))
                .map(ToString::to_string)
                .collect();
            return Err(OpenAiError::Request {
                kind: ErrorKind::Unsupported,
                what: format!(
                    "the server gives no log-probability of a given text ({})",
                    match tried.is_empty() {
                        true => "Config::scoring is off".to_owned(),
                        false => tried.join("; "),
                    }
                ),
                hint: "use vLLM, SGLang or the server of llama-cpp-python, or the model in process",
            });
        };
        let model = self.model_for(request.adapter.as_deref())?;
        if form == ScoringForm::Generate && request.adapter.is_some() {
            return Err(OpenAiError::Request {
                kind: ErrorKind::Unsupported,
                what: "the endpoint `/generate` takes no adapter".to_owned(),
                hint: "score without an adapter, or serve the merged model",
            });
        }
        let prefix = self.prefix(form, &request.prompt, deadline).await?;
        if let Written::Ids(ids) = &prefix {
            self.fits(ids.len(), 1)?;
        }
        let most = request.max_continuation_tokens;
        let each = request.continuations.iter().map(|continuation| {
            self.continuation(form, &model, &prefix, continuation, most, deadline)
        });
        try_join_all(each).await
    }

    /// The prompt before every continuation.
    async fn prefix(
        &self,
        form: ScoringForm,
        prompt: &Prompt,
        deadline: Deadline,
    ) -> Result<Written, OpenAiError> {
        if self.config.route == Route::Completions {
            return self.written(prompt, deadline).await;
        }
        let renders = matches!(self.support.server, ServerKind::Vllm)
            && self.support.tokenizer == Some(TokenizerForm::Prompt)
            && form != ScoringForm::EchoText;
        if !renders {
            return Err(OpenAiError::Request {
                kind: ErrorKind::Unsupported,
                what: "the server does not tokenize messages by the model's chat template, so texts cannot be scored on the chat route".to_owned(),
                hint: "use Route::Completions with a dialect of the model's own, or vLLM",
            });
        }
        let is_open = !prompt.open.is_empty();
        let body = json!({
            "model": self.config.model,
            "messages": self.messages(prompt)?,
            "add_generation_prompt": !is_open,
            "continue_final_message": is_open,
        });
        let answer = self
            .ask(Place::Root("tokenize"), Some(&body), deadline)
            .await?;
        Ok(Written::Ids(token_ids(&answer)?))
    }

    async fn continuation(
        &self,
        form: ScoringForm,
        model: &str,
        prefix: &Written,
        continuation: &str,
        most: usize,
        deadline: Deadline,
    ) -> Result<TokenScores, OpenAiError> {
        if continuation.is_empty() {
            return Ok(TokenScores {
                ids: Vec::new(),
                logprobs: Vec::new(),
                truncated: false,
            });
        }
        match prefix {
            Written::Text(text) => {
                self.echo_text(model, text, continuation, most, deadline)
                    .await
            }
            Written::Ids(prefix) => {
                let mut ids = self.data_ids(continuation, deadline, true).await?;
                let truncated = ids.len() > most;
                ids.truncate(most);
                self.fits(prefix.len(), ids.len())?;
                let logprobs = match ids.is_empty() {
                    true => Vec::new(),
                    false => self.of_ids(form, model, prefix, &ids, deadline).await?,
                };
                Ok(TokenScores {
                    ids,
                    logprobs,
                    truncated,
                })
            }
        }
    }

    /// The log-probabilities of `ids` after `prefix`.
    pub(crate) async fn of_ids(
        &self,
        form: ScoringForm,
        model: &str,
        prefix: &[TokenId],
        ids: &[TokenId],
        deadline: Deadline,
    ) -> Result<Vec<f64>, OpenAiError> {
        // The first token of a text has no log-probability.
        let Some(start) = prefix.len().checked_sub(1) else {
            return Err(OpenAiError::Request {
                kind: ErrorKind::Invalid,
                what: "the prompt is empty".to_owned(),
                hint: "this vocabulary has no BOS token: begin the prompt with some text",
            });
        };
        let all = [prefix, ids].concat();
        let logprobs = match form {
            ScoringForm::Generate => {
                let body = json!({
                    "input_ids": all,
                    "sampling_params": {"max_new_tokens": 1, "temperature": 0},
                    "return_logprob": true,
                    "logprob_start_len": start,
                });
                let answer = self
                    .paid(Place::Root("generate"), &body, all.len(), deadline)
                    .await?;
                let entries = of::<Generated>(answer)?.meta_info.input_token_logprobs;
                let from = entries.len().checked_sub(ids.len());
                let entries = from
                    .and_then(|from| entries.get(from..))
                    .unwrap_or_default();
                if !entries.iter().map(|entry| entry.1).eq(ids.iter().copied()) {
                    return Err(OpenAiError::shape("it scores other tokens than were sent"));
                }
                entries.iter().map(|entry| entry.0).collect()
            }
            _ => {
                let answer = self.echo(model, json!(all), all.len(), deadline).await?;
                let found = answer.token_logprobs;
                // With `max_tokens` 1 a written token follows.
                if found.len() != all.len() && found.len() != all.len() + 1 {
                    return Err(OpenAiError::shape(format!(
                        "it has {} log-probabilities for {} tokens",
                        found.len(),
                        all.len()
                    )));
                }
                found[prefix.len()..all.len()].to_vec()
            }
        };
        logprobs.into_iter().map(sound).collect()
    }

    /// Scores a continuation by a text and offsets. Scoring begins with the first token that reaches into the continuation.
    pub(crate) async fn echo_text(
        &self,
        model: &str,
        prefix: &str,
        continuation: &str,
        most: usize,
        deadline: Deadline,
    ) -> Result<TokenScores, OpenAiError> {
        let text = format!("{prefix}{}", self.marks.harmless(continuation));
        let ids = self.ids(&text, true, false, deadline).await?;
        self.fits(ids.len(), 1)?;
        let answer = self.echo(model, json!(text), ids.len(), deadline).await?;
        let (tokens, offsets) = (answer.tokens, answer.text_offset);
        let count = tokens.len();
        if answer.token_logprobs.len() != count || offsets.len() != count {
            return Err(OpenAiError::shape(
                "tokens, offsets and log-probabilities differ in number",
            ));
        }
        let (reach, end) = (prefix.chars().count(), text.chars().count());
        // The written token begins at the text's end.
        let within = offsets.partition_point(|offset| *offset < end);
        let ends = |at: usize| offsets.get(at + 1).copied().unwrap_or(end);
        let from = (0..within).find(|at| ends(*at) > reach).unwrap_or(within);
        // The BOS token has an id and no entry.
        let ids = ids.len().checked_sub(within).map(|begin| &ids[begin..]);
        let (Some(ids), true) = (ids, offsets.is_sorted()) else {
            return Err(OpenAiError::shape(
                "it has more tokens than the tokenizer gave",
            ));
        };
        let truncated = within - from > most;
        let until = within.min(from.saturating_add(most));
        let logprobs = answer.token_logprobs[from..until]
            .iter()
            .copied()
            .map(sound);
        Ok(TokenScores {
            ids: ids[from..until].to_vec(),
            logprobs: logprobs.collect::<Result<_, _>>()?,
            truncated,
        })
    }

    async fn echo(
        &self,
        model: &str,
        prompt: Value,
        tokens: usize,
        deadline: Deadline,
    ) -> Result<EchoLogprobs, OpenAiError> {
        let mut body = json!({
            "model": model, "prompt": prompt, "echo": true, "logprobs": 1, "temperature": 0,
            "max_tokens": i32::from(!self.echo_takes_zero),
        });
        if self.support.server == ServerKind::Vllm {
            body["add_special_tokens"] = json!(false);
        }
        let answer = self
            .paid(Place::Api("completions"), &body, tokens, deadline)
            .await?;
        let choice = of::<Echo>(answer)?.choices.into_iter().next();
        choice
            .and_then(|choice| choice.logprobs)
            .ok_or_else(|| OpenAiError::shape("it has no log-probabilities"))
    }

    /// Sends a request for scores, within the budget.
    async fn paid(
        &self,
        place: Place,
        body: &Value,
        tokens: usize,
        deadline: Deadline,
    ) -> Result<Value, OpenAiError> {
        let usage = Usage {
            input: tokens as u64,
            output: 1,
        };
        let mut attempts = self.attempts(deadline);
        loop {
            let reservation = self.ledger.reserve(usage)?;
            match self.http.json(place, Some(body), deadline).await {
                Ok(answer) => {
                    reservation.settle(usage);
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

fn of<T: serde::de::DeserializeOwned>(answer: Value) -> Result<T, OpenAiError> {
    serde_json::from_value(answer).map_err(|_| {
        OpenAiError::shape("it lacks log-probabilities in the form that was asked for")
    })
}

/// The prompt of the probe: ordinary words, in every vocabulary.
pub(crate) fn known_prompt() -> Prompt {
    Prompt {
        messages: vec![journeyman::domain::Message {
            speaker: journeyman::domain::Speaker::User,
            content: vec![Span::Data("one two three one two three one".to_owned())],
        }],
        open: Vec::new(),
    }
}
