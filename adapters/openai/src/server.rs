//! One model of one server, and what is known of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use journeyman::{
    ErrorKind, Result,
    contract::{GenerateRequest, ModelCapabilities, TokenCount},
    domain::TokenId,
};
use serde_json::{Value, json};

use crate::{
    budget::Ledger,
    config::Config,
    context_limit::TooLong,
    error::OpenAiError,
    http::{Http, Place},
    marks::Marks,
    retry::{Attempts, Deadline},
    support::Support,
};

/// A context that a refusal does not name is never taken for shorter than this, in tokens: memory that a server's requests share may
/// be full for a moment.
const LEAST_CONTEXT: usize = 1_024;

const PER_MILLE: u64 = 1_000;
/// The tokens of a prompt beside which a template's own words count for little.
const TELLING: u64 = 1_000;
/// The greatest factor by which a server may count more tokens than are estimated, in thousandths: an estimated token is three
/// bytes, and no token is less than one. What is named beyond it is no count of this prompt.
const DENSEST: u64 = 3 * PER_MILLE;

/// An adapter (LoRA) of the model that a server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Adapter {
    pub(crate) name: String,
    /// Its number in the field `lora` of llama-server. Where there is none, it is a model of the server by its name.
    pub(crate) number: Option<u64>,
}

/// The model that a request asks for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) model: String,
    /// For llama-server with adapters: the scale of each of them, since one that is left out may have another than 0.
    lora: Option<Value>,
}

impl Asked {
    /// The fields of a request that name the model and choose its adapter.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let lora = self.lora.clone().map(|lora| ("lora", lora));
        [("model", json!(self.model))].into_iter().chain(lora)
    }

    /// Sets these fields of a request.
    pub(crate) fn choose_in(&self, body: &mut Value) {
        for (name, value) in self.fields() {
            body[name] = value;
        }
    }
}

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
    /// The adapters (LoRA) of the model.
    pub(crate) adapters: Vec<Adapter>,
    /// Whether a request that only echoes may ask for no further token.
    pub(crate) echo_takes_zero: bool,
    calls: AtomicU64,
    /// The shortest context, in tokens, that a refusal of the server named; `usize::MAX` before the first one.
    learned: AtomicUsize,
    /// The server's tokens for 1,000 estimated ones, the most that it named so far.
    denser: AtomicU64,
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
            learned: AtomicUsize::new(usize::MAX),
            denser: AtomicU64::new(PER_MILLE),
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

    /// What a request for this adapter asks for.
    pub(crate) fn model_for(&self, adapter: Option<&str>) -> Result<Asked, OpenAiError> {
        let mut known = self.adapters.iter();
        let chosen = match adapter {
            None => None,
            Some(name) => match known.find(|known| known.name == name) {
                None => return Err(self.no_adapter(name)),
                chosen => chosen,
            },
        };
        let numbers = self.adapters.iter().filter_map(|one| one.number);
        let chosen_number = chosen.and_then(|chosen| chosen.number);
        let scales = numbers.map(|number| {
            json!({"id": number, "scale": if chosen_number == Some(number) { 1.0 } else { 0.0 }})
        });
        let scales: Vec<Value> = scales.collect();
        let model = match chosen {
            Some(Adapter { name, number: None }) => name,
            _ => &self.config.model,
        };
        Ok(Asked {
            model: model.clone(),
            lora: (!scales.is_empty()).then(|| Value::from(scales)),
        })
    }

    fn no_adapter(&self, name: &str) -> OpenAiError {
        let known: Vec<&str> = self.adapters.iter().map(|one| one.name.as_str()).collect();
        let known = match known.is_empty() {
            true => "it lists none".to_owned(),
            false => format!("it has: {}", self.http.safe(&known.join(", "))),
        };
        OpenAiError::Request {
            kind: ErrorKind::NotFound,
            what: format!("the server has no adapter `{name}` of this model; {known}"),
            hint: "start the server with the adapter (vLLM: --enable-lora --lora-modules NAME=FOLDER; llama-server: --lora NAME.gguf), then connect again",
        }
    }

    /// The tokens of the model's context, by all that the server has said.
    pub(crate) fn context(&self) -> usize {
        let learned = self.learned.load(Ordering::Relaxed);
        self.capabilities.context.min(learned)
    }

    /// The tokens of a request's prompt: estimated, and more by as much as the server counted more before.
    pub(crate) fn count(&self, request: &GenerateRequest) -> TokenCount {
        let mut count = request.estimated_prompt();
        let denser = self.denser.load(Ordering::Relaxed);
        let tokens = (count.tokens as u64).saturating_mul(denser) / PER_MILLE;
        count.tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
        count
    }

    /// Learns how many tokens the server counts for a prompt, so that the next one is shortened before it is refused. A short
    /// prompt tells nothing of longer ones: a template puts as much before either.
    pub(crate) fn learn_density(&self, request: &GenerateRequest, counted: u64) {
        let estimate = request.estimated_prompt().tokens as u64;
        if estimate < TELLING.min(self.context() as u64 / 2) {
            return;
        }
        let denser = counted.saturating_mul(PER_MILLE).div_ceil(estimate.max(1));
        self.denser
            .fetch_max(denser.min(DENSEST), Ordering::Relaxed);
    }

    /// Learns from the refusal of a request how long the context is. `asked` is an estimate of the request's tokens, of which its
    /// answer may have `answer`. After a refusal without a number the context counts as three quarters of that.
    pub(crate) fn learn_context(&self, told: TooLong, asked: u64, answer: u64) {
        let known = self.context();
        let context = told
            .context
            .and_then(|context| usize::try_from(context).ok());
        let next = match (context, told.prompt) {
            (Some(context), _) if context < known => context,
            // The prompt alone, or with its answer, is longer than what is known: it will be shortened.
            (_, Some(prompt)) if prompt.saturating_add(answer) > known as u64 => return,
            _ => usize::try_from(asked / 4 * 3)
                .unwrap_or(known)
                .max(LEAST_CONTEXT),
        };
        if next < known {
            self.learned.fetch_min(next, Ordering::Relaxed);
            tracing::info!(
                context = next,
                "the server's context is shorter than it was taken for"
            );
        }
    }

    /// Refuses a prompt that leaves no room in the context.
    pub(crate) fn fits(&self, prompt_tokens: usize, room: usize) -> Result<(), OpenAiError> {
        let context = self.context();
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
