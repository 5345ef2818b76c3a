//! The log-probability of a given text.

use futures::future::try_join_all;
use journeyman::{
    ErrorKind,
    contract::{ScoreRequest, TokenScores},
    domain::{Prompt, TokenId},
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
    server::{Asked, Server},
    support::{ServerKind, TokenizerForm},
    tokens::{Written, token_ids},
};

pub(crate) const SCORE: &str = "OpenAi::score";

/// SGLang's answer: each entry is log-probability, id and perhaps text.
#[derive(Debug, Deserialize)]
struct Generated {
    meta_info: MetaInfo,
}

#[derive(Debug, Deserialize)]
struct MetaInfo {
    input_token_logprobs: Vec<(Option<f64>, TokenId, Option<Value>)>,
}

/// How a server renders messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Renders {
    /// As token ids.
    AsIds,
    /// As a text, special tokens spelled out.
    AsText,
}

/// Texts cannot be scored on the chat route.
pub(crate) fn unrendered() -> OpenAiError {
    OpenAiError::Request {
        kind: ErrorKind::Unsupported,
        what: "the server does not render messages by the model's chat template, so texts cannot be scored on the chat route".to_owned(),
        hint: "use Route::Completions with a prompt format of the model's own, or vLLM or llama-server",
    }
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
                hint: "use vLLM, SGLang, llama-server or the server of llama-cpp-python, or the model in process",
            });
        };
        let asked = self.model_for(request.adapter.as_deref())?;
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
        let before = match &prefix {
            Written::Text(text) => self.ids(text, true, false, deadline).await?,
            Written::Ids(_) => Vec::new(),
        };
        let prefix = (&prefix, &before[..]);
        let most = request.max_continuation_tokens;
        let each = request.continuations.iter().map(|continuation| {
            self.continuation(form, &asked, prefix, continuation, most, deadline)
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
        if form == ScoringForm::EchoText {
            return Err(unrendered());
        }
        let is_open = !prompt.open.is_empty();
        let mut body = json!({
            "messages": self.messages(prompt)?,
            "add_generation_prompt": !is_open,
        });
        let ids = match self.renders() {
            Some(Renders::AsIds) => {
                body["model"] = json!(self.config.model);
                body["continue_final_message"] = json!(is_open);
                let place = Place::Root("tokenize");
                token_ids(&self.ask(place, Some(&body), deadline).await?)?
            }
            Some(Renders::AsText) => {
                let place = Place::Root("apply-template");
                let answer = self.ask(place, Some(&body), deadline).await?;
                let text = answer.get("prompt").and_then(Value::as_str);
                let text = text.ok_or_else(|| OpenAiError::shape("it has no rendered prompt"))?;
                self.ids(text, true, true, deadline).await?
            }
            None => return Err(unrendered()),
        };
        Ok(Written::Ids(ids))
    }

    /// How the server renders messages by the model's chat template, if it does without writing a text behind them.
    pub(crate) fn renders(&self) -> Option<Renders> {
        match (self.support.server, self.support.tokenizer) {
            (ServerKind::Vllm, Some(TokenizerForm::Prompt)) => Some(Renders::AsIds),
            (ServerKind::LlamaServer, Some(TokenizerForm::Content)) => Some(Renders::AsText),
            _ => None,
        }
    }

    async fn continuation(
        &self,
        form: ScoringForm,
        asked: &Asked,
        (prefix, before): (&Written, &[TokenId]),
        continuation: &str,
        most: usize,
        deadline: Deadline,
    ) -> Result<TokenScores, OpenAiError> {
        if continuation.is_empty() {
            return Ok(TokenScores::new(Vec::new(), Vec::new()));
        }
        match prefix {
            Written::Text(text) => {
                self.echo_text(asked, (text, before), continuation, most, deadline)
                    .await
            }
            Written::Ids(prefix) => {
                let mut ids = self.data_ids(continuation, deadline, true).await?;
                let truncated = ids.len() > most;
                ids.truncate(most);
                self.fits(prefix.len(), ids.len())?;
                let logprobs = match ids.is_empty() {
                    true => Vec::new(),
                    false => self.of_ids(form, asked, prefix, &ids, deadline).await?,
                };
                Ok(TokenScores::new(ids, logprobs).with_truncated(truncated))
            }
        }
    }

    /// The log-probabilities of `ids` after `prefix`.
    pub(crate) async fn of_ids(
        &self,
        form: ScoringForm,
        asked: &Asked,
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
            ScoringForm::Forced => return self.forced(asked, prefix, ids, deadline).await,
            _ => {
                let answer = self.echo(asked, json!(all), all.len(), deadline).await?;
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

    /// Sends a request for scores, within the budget.
    pub(crate) async fn paid(
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

pub(crate) fn of<T: serde::de::DeserializeOwned>(answer: Value) -> Result<T, OpenAiError> {
    serde_json::from_value(answer).map_err(|_| {
        OpenAiError::shape("it lacks log-probabilities in the form that was asked for")
    })
}
