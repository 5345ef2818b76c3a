//! [`Scorer`].

use async_trait::async_trait;
use journeyman::{
    ModelId, Result,
    contract::{ScoreRequest, Scorer, TokenScores},
};

use crate::{
    loaded::LlamaCpp,
    score::{Passes, SCORE},
    worker::Request,
};

impl LlamaCpp {
    /// What [`Scorer::score`] gives, with a full pass over prompt and continuation for each continuation: what sharing
    /// the prompt is measured against.
    ///
    /// # Errors
    /// As [`Scorer::score`].
    pub async fn score_separately(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        self.score_in(Passes::Separate, request).await
    }

    async fn score_in(&self, passes: Passes, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        crate::convert::no_adapter(SCORE, request.adapter.as_deref())?;
        let limit = request.time_limit;
        let ask = |answer| Request::Score(request.clone(), passes, answer);
        self.worker.ask(SCORE, limit, ask).await
    }
}

/// The prompt is decoded once; the continuations follow it as sequences of their own that name the prompt's cells, as
/// many in one decode as fit. Prompt and continuation are tokenised apart. A continuation that does not fit the
/// context behind the prompt, after the cut, is `Invalid`.
#[async_trait]
impl Scorer for LlamaCpp {
    fn model(&self) -> &ModelId {
        &self.capabilities.model
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        self.score_in(Passes::Shared, request).await
    }
}
