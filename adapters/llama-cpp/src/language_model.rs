//! [`LanguageModel`] for [`LlamaCpp`].

use std::time::Instant;

use async_trait::async_trait;
use journeyman::{
    Result,
    contract::{GenerateRequest, Generation, LanguageModel, ModelCapabilities, TokenCount},
};

use crate::{
    generate::{self, GENERATE, Writing},
    loaded::LlamaCpp,
    queue::Work,
};

/// The end token (EOG) is among `ids` and counts as generated, but is not part of the text; all other special tokens
/// are. Where prompt and output fill the context, `finish` is `Length`.
#[async_trait]
impl LanguageModel for LlamaCpp {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let called = Instant::now();
        let writing = Writing::new(&self.renderer, request)?;
        let adapter = (request.adapter.clone(), false);
        self.worker
            .ask(GENERATE, called, request.time_limit, adapter, |answer| {
                Work::Write(Box::new(writing), answer)
            })
            .await
    }

    /// A prompt whose text is far above the context is not tokenized: its count is an estimate.
    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        generate::count(&self.renderer, request)
    }
}
