//! [`Scorer`] for [`OpenAi`].

use async_trait::async_trait;
use journeyman::{
    ModelId, Result,
    contract::{ScoreRequest, Scorer, TokenScores},
};

use crate::{config::ScoringForm, connection::OpenAi, http::Place, score::SCORE};

/// Each continuation is a request of its own, or one a token where tokens are forced ([`ScoringForm::Forced`]); the server's
/// prefix cache makes the prompt cheap. Where ids are sent, prompt and continuation are tokenized separately, as data where they
/// are data. Where a text is sent, scoring begins where the tokens of both together part from those of the prompt.
#[async_trait]
impl Scorer for OpenAi {
    fn model(&self) -> &ModelId {
        &self.server.capabilities.model
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let (server, request) = (self.server.clone(), request.clone());
        let deadline = server.deadline(request.time_limit);
        self.runtime
            .run(SCORE, async move {
                let place = match server.support.scoring {
                    Some(ScoringForm::Generate) => Place::Root("generate"),
                    _ => Place::Api("completions"),
                };
                let endpoint = server.http.address(place);
                let scored = server.score(&request, deadline).await;
                scored.map_err(|error| error.at(SCORE, endpoint.as_str(), 1))
            })
            .await
    }
}
