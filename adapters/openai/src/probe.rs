//! Finds out what a server can do.

use std::path::Path;

use journeyman::{
    ErrorKind,
    contract::GenerateRequest,
    domain::{Message, Prompt, Speaker},
    text::without_thinking,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    config::Route,
    error::OpenAiError,
    http::Place,
    retry::Deadline,
    server::{Adapter, Server},
    support::{ServerKind, TokenizerForm},
};

/// The tokens that the probe lets the model write.
pub(crate) const WRITTEN: usize = 3;
/// The greatest number of models that an error names.
const NAMED: usize = 8;

#[derive(Debug, Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Debug, Deserialize)]
struct Model {
    id: String,
    #[serde(default)]
    owned_by: Option<String>,
    /// vLLM and SGLang.
    #[serde(default)]
    max_model_len: Option<usize>,
    /// vLLM: the model that this one is an adapter of.
    #[serde(default)]
    parent: Option<String>,
}

/// An entry of `/lora-adapters`.
#[derive(Debug, Deserialize)]
struct Loaded {
    id: u64,
    path: String,
}

impl From<Loaded> for Adapter {
    fn from(loaded: Loaded) -> Self {
        let stem = Path::new(&loaded.path).file_stem();
        let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
        Self {
            name: stem.unwrap_or(loaded.path),
            number: Some(loaded.id),
        }
    }
}

/// Whether a server has no list of models, as far as its answer tells.
fn lists_nothing(error: &OpenAiError) -> bool {
    let is_absent = |status: u16| matches!(status, 404 | 405 | 501);
    match error {
        OpenAiError::Status { status, .. } => is_absent(*status),
        OpenAiError::Shape { .. } => true,
        _ => false,
    }
}

impl Server {
    /// Finds the model and what the server can do with it. What does not work is declined with its reason; only an absent
    /// model, a refused key, an unknown context and a scoring form that the host chose and that does not work are errors.
    pub(crate) async fn probe(&mut self, deadline: Deadline) -> Result<(), OpenAiError> {
        let said = match self.find_model(deadline).await {
            Err(error) if lists_nothing(&error) => {
                // A server without a list may have the model all the same, where it is told all else.
                if self.find_context(None, deadline).await.is_err() {
                    return Err(error);
                }
                match self.writes(deadline).await {
                    // Then the address is wrong.
                    Err(other) if lists_nothing(&other) => return Err(error),
                    written => written?,
                }
                self.support.decline("the list of models", error);
                None
            }
            said => said?,
        };
        let kind = self.support.server;
        let is_known = matches!(
            kind,
            ServerKind::Vllm | ServerKind::Sglang | ServerKind::LlamaServer
        );
        self.support.continues = self.config.continues.unwrap_or(is_known);
        self.find_context(said, deadline).await?;
        self.find_tokenizer(deadline).await?;
        self.find_records(deadline).await?;
        self.find_schema(deadline).await;
        self.find_tools(deadline).await;
        self.find_scoring(deadline).await?;
        self.capabilities.score = self.support.scoring.is_some();
        self.capabilities.token_records = self.support.token_records;
        self.capabilities.json_schema = self.support.json_schema;
        self.capabilities.tools = self.support.tools;
        Ok(())
    }

    /// Has the model write one token.
    async fn writes(&mut self, deadline: Deadline) -> Result<(), OpenAiError> {
        let prompt = Prompt::new(vec![Message::data(Speaker::User, "Say yes.")]);
        let mut request = GenerateRequest::greedy(prompt, 1);
        request.time_limit = deadline.limit;
        self.answer_without_refused(&request, deadline)
            .await
            .map(drop)
    }

    /// The context that the server lists for the model, if any.
    pub(crate) async fn find_model(
        &mut self,
        deadline: Deadline,
    ) -> Result<Option<usize>, OpenAiError> {
        let listed = self.ask(Place::Api("models"), None, deadline).await?;
        let models: Models = serde_json::from_value(listed)
            .map_err(|_| OpenAiError::shape("`/models` gave no list of models"))?;
        let name = &self.config.model;
        // Ollama lists `m:latest`, and takes `m` for it.
        let latest = format!("{name}:latest");
        let listed = |id: &str| models.data.iter().find(|model| model.id == id);
        let Some(model) = listed(name).or_else(|| listed(&latest)) else {
            let there: Vec<&str> = models
                .data
                .iter()
                .take(NAMED)
                .map(|model| model.id.as_str())
                .collect();
            let more = models.data.len().saturating_sub(NAMED);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let there = self.http.safe(&there.join(", "));
            return Err(OpenAiError::Request {
                kind: ErrorKind::NotFound,
                what: format!("the server has no model `{name}`; it has: {there}{more}"),
                hint: "name one of the server's models in Config::model",
            });
        };
        let kind = ServerKind::of_owner(model.owned_by.as_deref().unwrap_or_default());
        let adapters = models
            .data
            .iter()
            .filter(|other| other.parent.as_ref() == Some(name));
        let adapters = adapters.map(|adapter| Adapter {
            name: adapter.id.clone(),
            number: None,
        });
        (self.adapters, self.support.server) = (adapters.collect(), kind);
        let context = model.max_model_len;
        match kind {
            ServerKind::LlamaServer => self.find_adapters(deadline).await,
            // By default it ends an answer when the next request comes.
            ServerKind::LlamaCppPython => self.http.one_at_a_time(),
            _ => {}
        }
        Ok(context)
    }

    /// The adapters that llama-server was started with, by the names of their files without the ending. A server without that
    /// endpoint has none.
    async fn find_adapters(&mut self, deadline: Deadline) {
        let listed = self.ask(Place::Root("lora-adapters"), None, deadline).await;
        let listed = listed.and_then(|listed| {
            serde_json::from_value::<Vec<Loaded>>(listed)
                .map_err(|_| OpenAiError::shape("`/lora-adapters` gave no list of adapters"))
        });
        match listed {
            Ok(loaded) => self.adapters.extend(loaded.into_iter().map(Adapter::from)),
            Err(error) => tracing::debug!(%error, "the server lists no adapters"),
        }
    }

    async fn find_context(
        &mut self,
        said: Option<usize>,
        deadline: Deadline,
    ) -> Result<(), OpenAiError> {
        let mut context = self
            .config
            .context
            .map(std::num::NonZeroUsize::get)
            .or(said);
        if context.is_none() && self.support.server == ServerKind::LlamaServer {
            let props = self.ask(Place::Root("props"), None, deadline).await;
            let size = props.ok().and_then(|props| {
                props
                    .pointer("/default_generation_settings/n_ctx")?
                    .as_u64()
            });
            context = size.and_then(|size| usize::try_from(size).ok());
        }
        match context.filter(|context| *context > 0) {
            Some(context) => self.capabilities.context = context,
            None => {
                return Err(OpenAiError::Request {
                    kind: ErrorKind::Invalid,
                    what: "the server does not say how large the model's context is".to_owned(),
                    hint: "set Config::context",
                });
            }
        }
        Ok(())
    }

    async fn find_tokenizer(&mut self, deadline: Deadline) -> Result<(), OpenAiError> {
        let forms: &[TokenizerForm] = match self.support.server {
            ServerKind::LlamaServer => &[TokenizerForm::Content],
            ServerKind::Vllm | ServerKind::Sglang => &[TokenizerForm::Prompt],
            ServerKind::LlamaCppPython => &[TokenizerForm::Extras],
            // An unknown server is asked for nothing beyond OpenAI's interface.
            ServerKind::OpenAi | ServerKind::Other => &[],
        };
        for &form in forms {
            self.support.tokenizer = Some(form);
            match self.ids("one two three", false, false, deadline).await {
                Ok(ids) if !ids.is_empty() => {
                    let begin = self.ids("", false, true, deadline).await;
                    let begin = begin.unwrap_or_default();
                    // More than one would be an end token too.
                    self.begin = if begin.len() == 1 { begin } else { Vec::new() };
                    return Ok(());
                }
                Ok(_) => self
                    .support
                    .decline(format!("tokenizer by {form}"), "it gave no tokens"),
                Err(error) => self.support.decline(format!("tokenizer by {form}"), error),
            }
        }
        self.support.tokenizer = None;
        Ok(())
    }

    /// Lets the model write some tokens as any request does.
    async fn find_records(&mut self, deadline: Deadline) -> Result<(), OpenAiError> {
        let known = self.config.known.first().cloned().unwrap_or_default();
        let request = GenerateRequest::greedy(known, WRITTEN);
        self.support.token_records = true;
        let tried = self.answer_without_refused(&request, deadline).await;
        let declined = match tried {
            Ok(answer) => {
                self.support.stop_reported = answer.stop_reported;
                let prompt_known = self.config.route == Route::Completions
                    && matches!(
                        self.support.tokenizer,
                        Some(TokenizerForm::Content | TokenizerForm::Prompt)
                    );
                let output = answer.usage.map(|usage| usage.output);
                if answer.ids.is_empty() || answer.ids.len() != answer.logprobs.len() {
                    format!(
                        "{} token ids and {} log-probabilities",
                        answer.ids.len(),
                        answer.logprobs.len()
                    )
                } else if answer.prompt_ids.is_empty() && !prompt_known {
                    "no token ids of the prompt".to_owned()
                } else if output.is_some_and(|output| output != answer.ids.len() as u64) {
                    format!(
                        "{} token ids for {} tokens",
                        answer.ids.len(),
                        output.unwrap_or_default()
                    )
                } else {
                    return Ok(());
                }
            }
            Err(
                error @ (OpenAiError::Status {
                    status: 401 | 403 | 404,
                    ..
                }
                | OpenAiError::Budget { .. }
                | OpenAiError::Deadline { .. }
                | OpenAiError::Connect { .. }),
            ) => {
                return Err(error);
            }
            Err(error) => error.to_string(),
        };
        self.support.token_records = false;
        self.support.decline("token records", declined);
        if self.support.stop_reported {
            return Ok(());
        }
        // Without log-probabilities: some servers refuse them.
        match self.answer_without_refused(&request, deadline).await {
            Ok(answer) => self.support.stop_reported = answer.stop_reported,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The raw answer to a request, sent once and again where that may help.
    pub(crate) async fn written_probe(
        &self,
        request: &GenerateRequest,
        deadline: Deadline,
    ) -> Result<Answer, OpenAiError> {
        let mut attempts = self.attempts(deadline);
        loop {
            match self.once(request, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(error) => attempts.again(error).await?,
            }
        }
    }

    async fn find_schema(&mut self, deadline: Deadline) {
        let said = "Answer with a JSON object whose field `ready` is true.";
        let prompt = Prompt::new(vec![Message::data(Speaker::User, said)]);
        let mut request = GenerateRequest::greedy(prompt, 32);
        request.time_limit = deadline.limit;
        request.json_schema = Some(json!({
            "type": "object",
            "properties": {"ready": {"const": true}},
            "required": ["ready"],
            "additionalProperties": false,
        }));
        self.support.json_schema = true;
        let mut attempts = 0;
        let declined = match self.generate(&request, deadline, &mut attempts).await {
            Ok(generation) => {
                let text = without_thinking(&generation.text);
                match serde_json::from_str::<Value>(text.trim()) {
                    // Servers exist that ignore the field.
                    Ok(value) if value == json!({"ready": true}) => return,
                    Ok(_) => "the text does not obey the JSON Schema".to_owned(),
                    Err(_) if generation.finish.is_cut() => {
                        "the text was cut before it was whole".to_owned()
                    }
                    Err(_) => "the text is not JSON, though a JSON Schema was given".to_owned(),
                }
            }
            Err(error) => error.to_string(),
        };
        self.support.json_schema = false;
        self.support.decline("JSON Schema", declined);
    }
}
