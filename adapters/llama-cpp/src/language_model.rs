//! [`LanguageModel`].

use async_trait::async_trait;
use journeyman::{
    Result,
    contract::{GenerateRequest, Generation, LanguageModel, ModelCapabilities},
};

use crate::{generate::GENERATE, loaded::LlamaCpp, worker::Request};

/// The token that ends the text (EOG) is among `ids` and counts as written, but is not spelled out in the text; all
/// other special tokens are. Where prompt and output reach the context, `finish` is `Length`.
#[async_trait]
impl LanguageModel for LlamaCpp {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        crate::convert::no_adapter(GENERATE, request.adapter.as_deref())?;
        let limit = request.time_limit;
        let ask = |answer| Request::Generate(request.clone(), answer);
        self.worker.ask(GENERATE, limit, ask).await
    }
}
