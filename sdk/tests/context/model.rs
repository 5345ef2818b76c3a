//! A scripted model that counts bytes.

use std::{
    fmt,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use journeyman::{
    Error, Result,
    contract::{
        FinishReason, GenerateRequest, Generation, LanguageModel, ModelCapabilities, TokenCount,
    },
};

/// A model with a token for four bytes of a prompt. It answers by a script, which is given the number of the call.
pub(crate) struct FourBytes {
    pub(crate) capabilities: ModelCapabilities,
    /// Whether it gives half of the tokens as an estimate, as a host without the model's tokenizer might.
    pub(crate) guesses: bool,
    /// How many tokens more each `Say more.` has: rows that are dearer than the fixed text of a prompt.
    pub(crate) dear: usize,
    /// A shorter context for prompt and answer together that its refusals do not name, and whether it learns from them that its
    /// context is shorter.
    pub(crate) unnamed: Option<(usize, bool)>,
    /// The context by what its refusals taught.
    learned: AtomicUsize,
    /// The requests that it refused for the unnamed context: prompt and answer's tokens.
    pub(crate) unnamed_refused: Mutex<Vec<(String, usize)>>,
    script: Box<dyn Fn(usize) -> String + Send + Sync>,
    /// Prompts that it refused as too long.
    pub(crate) refused: AtomicUsize,
    /// The prompts that it answered.
    prompts: Mutex<Vec<GenerateRequest>>,
}

impl fmt::Debug for FourBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FourBytes")
    }
}

impl FourBytes {
    pub(crate) fn new(
        context: usize,
        script: impl Fn(usize) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            capabilities: ModelCapabilities::new("four-bytes".into(), context),
            guesses: false,
            dear: 0,
            unnamed: None,
            learned: AtomicUsize::new(context),
            unnamed_refused: Mutex::default(),
            refused: AtomicUsize::new(0),
            script: Box::new(script),
            prompts: Mutex::default(),
        }
    }

    pub(crate) fn tokens(request: &GenerateRequest) -> usize {
        request.prompt.text().len().div_ceil(4)
    }

    fn count(&self, request: &GenerateRequest) -> usize {
        let dear = request.prompt.text().matches("Say more.").count();
        Self::tokens(request) + self.dear * dear
    }

    pub(crate) fn answered(&self) -> Vec<GenerateRequest> {
        self.prompts.lock().unwrap().clone()
    }
}

#[async_trait]
impl LanguageModel for FourBytes {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    fn context(&self) -> usize {
        self.learned.load(Ordering::Relaxed)
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let at = "FourBytes::generate";
        let (tokens, context) = (self.count(request), self.capabilities.context);
        if tokens > context {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Error::invalid(at, "the prompt is longer than the context")
                .with("prompt_tokens", tokens)
                .with("context", context));
        }
        if let Some((unnamed, learns)) = self.unnamed
            && tokens + request.max_tokens > unnamed
        {
            let asked = (request.prompt.text(), request.max_tokens);
            self.unnamed_refused.lock().unwrap().push(asked);
            if learns {
                let next = (tokens + request.max_tokens) / 4 * 3;
                self.learned.fetch_min(next, Ordering::Relaxed);
            }
            return Err(Error::invalid(at, "the context is exceeded").with("too_long", true));
        }
        if request.json_schema.is_some() && !self.capabilities.json_schema {
            return Err(Error::unsupported(at, "a schema cannot be enforced"));
        }
        let mut prompts = self.prompts.lock().unwrap();
        let text = (self.script)(prompts.len());
        prompts.push(request.clone());
        let whole = text.len().div_ceil(4);
        let room = request.max_tokens.min(context - tokens);
        let text: String = text.chars().take(4 * room).collect();
        let mut generation = Generation::new("four-bytes", &request.prompt, text);
        if whole > room {
            generation.finish = FinishReason::Length;
        }
        Ok(generation)
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        let tokens = self.count(request);
        Ok(TokenCount {
            tokens: if self.guesses { tokens / 2 } else { tokens },
            estimated: self.guesses,
        })
    }
}
