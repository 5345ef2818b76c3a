//! [`LanguageModel`] for [`OpenAi`].

use async_trait::async_trait;
use journeyman::{
    Result,
    contract::{GenerateRequest, Generation, LanguageModel, ModelCapabilities, TokenCount},
};

use crate::{config::Route, connection::OpenAi, generate::GENERATE, http::Place};

/// Texts are always streamed. A request is sent again after a failure that may pass, unless some of its text reached the
/// sink. On the chat route a template may use tokens that are not the host's to see: `prompt_tokens` is the server's count.
#[async_trait]
impl LanguageModel for OpenAi {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.server.capabilities
    }

    fn context(&self) -> usize {
        self.server.context()
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        Ok(self.server.count(request))
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let (server, request) = (self.server.clone(), request.clone());
        let deadline = server.deadline(request.time_limit);
        self.runtime
            .run(GENERATE, async move {
                let mut attempts = 1;
                let generated = server.generate(&request, deadline, &mut attempts).await;
                let place = Place::Api(match server.config.route {
                    Route::Chat => "chat/completions",
                    Route::Completions => "completions",
                });
                let endpoint = server.http.address(place);
                generated.map_err(|error| error.at(GENERATE, endpoint.as_str(), attempts))
            })
            .await
    }
}
