//! One model of one server, and what is known of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use journeyman::{ErrorKind, Result, contract::ModelCapabilities, domain::TokenId};
use serde_json::Value;

use crate::{
    budget::Ledger,
    config::Config,
    error::OpenAiError,
    http::{Http, Place},
    marks::Marks,
    retry::{Attempts, Deadline},
    support::Support,
};

/// What the requests of one connection share.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) config: Config,
    pub(crate) http: Http,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) marks: Marks,
    pub(crate) support: Support,
    pub(crate) capabilities: ModelCapabilities,
    /// The tokens that the vocabulary puts in front of a text: a BOS token or none.
    pub(crate) begin: Vec<TokenId>,
    /// The BOS token that a text begins with which llama-cpp-python scores soundly, once the probe has found it.
    pub(crate) bos: Option<TokenId>,
    /// Other models of the server that are adapters (LoRA) of this one.
    pub(crate) adapters: Vec<String>,
    /// Whether a request that only echoes may ask for no further token.
    pub(crate) echo_takes_zero: bool,
    calls: AtomicU64,
}

impl Server {
    /// Nothing is known yet.
    pub(crate) fn new(config: Config) -> Result<Self> {
        let http = Http::new(&config)?;
        Ok(Self {
            http,
            ledger: Arc::new(Ledger::new(config.budget)),
            marks: Marks::new(&config.marks)?,
            support: Support::default(),
            capabilities: ModelCapabilities::new(config.model.as_str().into(), 0),
            begin: Vec::new(),
            bos: None,
            adapters: Vec::new(),
            echo_takes_zero: false,
            calls: AtomicU64::new(0),
            config,
        })
    }

    /// The end of a call with this time limit.
    pub(crate) fn deadline(&self, limit: Duration) -> Deadline {
        Deadline::after(limit.min(self.config.deadlines.total))
    }

    pub(crate) fn attempts(&self, deadline: Deadline) -> Attempts {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        Attempts::new(self.config.retries, call, deadline)
    }

    /// Sends a request that changes nothing on the server, and reads its answer as JSON, with retries.
    pub(crate) async fn ask(
        &self,
        place: Place,
        body: Option<&Value>,
        deadline: Deadline,
    ) -> Result<Value, OpenAiError> {
        let mut attempts = self.attempts(deadline);
        loop {
            match self.http.json(place, body, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(error) => attempts.again(error).await?,
            }
        }
    }

    /// The name that a request for this adapter carries as its model.
    pub(crate) fn model_for(&self, adapter: Option<&str>) -> Result<String, OpenAiError> {
        match adapter {
            None => Ok(self.config.model.clone()),
            Some(name) if self.adapters.iter().any(|known| known == name) => Ok(name.to_owned()),
            Some(name) => Err(OpenAiError::Request {
                kind: ErrorKind::NotFound,
                what: format!("the server has no adapter `{name}` of this model"),
                hint: "load the adapter in the server, then connect again",
            }),
        }
    }

    /// Refuses a prompt that leaves no room in the context.
    pub(crate) fn fits(&self, prompt_tokens: usize, room: usize) -> Result<(), OpenAiError> {
        let context = self.capabilities.context;
        if prompt_tokens.saturating_add(room) <= context {
            return Ok(());
        }
        Err(OpenAiError::Request {
            kind: ErrorKind::Invalid,
            what: format!("the prompt has {prompt_tokens} tokens and the context {context}"),
            hint: "shorten the prompt, or serve the model with a larger context",
        })
    }
}
