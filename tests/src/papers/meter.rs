//! A model that counts the tokens that it reads and writes.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use journeyman::{
    ModelId, Result, async_trait,
    contract::{
        GenerateRequest, Generation, LanguageModel, ModelCapabilities, ModelSpeed, ScoreRequest,
        Scorer, TokenCount, TokenScores, Tokenizer,
    },
};
use journeyman_llama_cpp::LlamaCpp;
use quickstart::Parts;

/// Counts prompt and output tokens of acting and of roles, and what a gate reads: each prompt once, and every continuation.
#[derive(Debug)]
pub(super) struct Meter {
    model: Arc<LlamaCpp>,
    asked: Arc<dyn LanguageModel>,
    scorer: Arc<dyn Scorer>,
    tokens: AtomicU64,
}

impl Meter {
    /// A meter before what the parts ask.
    pub(super) fn new(parts: &Parts) -> Self {
        Self {
            model: parts.model.clone(),
            asked: parts.asked(),
            scorer: parts.scorer(),
            tokens: AtomicU64::new(0),
        }
    }

    /// The tokens so far.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    fn count(&self, tokens: u64) {
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
    }
}

#[async_trait]
impl LanguageModel for Meter {
    fn capabilities(&self) -> &ModelCapabilities {
        self.model.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let written = self.asked.generate(request).await?;
        self.count(written.prompt_tokens + written.output_tokens);
        Ok(written)
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        self.asked.count_prompt(request).await
    }
}

#[async_trait]
impl Scorer for Meter {
    fn model(&self) -> &ModelId {
        self.model.model()
    }

    fn speed(&self) -> Option<ModelSpeed> {
        self.model.speed()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let scores = self.scorer.score(request).await?;
        let prompt = self.model.count(&request.prompt.text()).tokens;
        let continuations: usize = scores.iter().map(|scores| scores.ids.len()).sum();
        self.count((prompt + continuations) as u64);
        Ok(scores)
    }

    fn is_trained_to_score(&self) -> bool {
        self.model.is_trained_to_score()
    }
}
