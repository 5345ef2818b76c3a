//! [`Scorer`].

use std::time::Instant;

use async_trait::async_trait;
use journeyman::{
    ModelId, Result,
    contract::{ScoreRequest, Scorer, TokenScores},
};

use crate::{
    loaded::LlamaCpp,
    queue::Work,
    score::{SCORE, Scoring},
};

/// The prompt is decoded once; the continuations follow it as sequences of their own that name the prompt's cells, as
/// many in one decode as fit. Prompt and continuation are tokenised apart. A continuation that does not fit the
/// context behind the prompt, after the cut, is `Invalid`.
#[async_trait]
impl Scorer for LlamaCpp {
    fn model(&self) -> &ModelId {
        &self.capabilities.model
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        if request.continuations.is_empty() {
            return Ok(Vec::new());
        }
        let called = Instant::now();
        let scoring = Scoring::new(&self.renderer, request)?;
        let adapter = request.adapter.clone();
        self.worker
            .ask(SCORE, called, request.time_limit, adapter, |answer| {
                Work::Score(scoring, answer)
            })
            .await
    }
}
