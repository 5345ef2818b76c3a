//! [`Scorer`] for [`LlamaCpp`].

use std::time::Instant;

use async_trait::async_trait;
use journeyman::{
    ModelId, Result,
    contract::{ModelSpeed, ScoreRequest, Scorer, TokenScores},
};

use crate::{
    loaded::LlamaCpp,
    queue::Work,
    score::{SCORE, Scoring},
};

/// Whether a model is the bundled one, by the name in its file.
pub(crate) fn trained_to_score(model: &ModelId) -> bool {
    model.as_str().starts_with("apprentice")
}

/// The prompt is decoded once. Each continuation is a sequence that shares the prompt's cells; as many as fit are
/// decoded together. Prompt and continuation are tokenized separately. A continuation that does not fit the context
/// after the prompt, once cut to the request's limit, is `Invalid`.
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
        let adapter = (request.adapter.clone(), request.repeatable);
        self.worker
            .ask(SCORE, called, request.time_limit, adapter, |answer| {
                Work::Score(scoring, answer)
            })
            .await
    }

    fn speed(&self) -> Option<ModelSpeed> {
        self.capabilities.speed
    }

    /// Yes: a model's id has a digest of its file.
    fn has_lasting_scores(&self) -> bool {
        true
    }

    /// Whether it is the bundled model: its training has skills behind tasks.
    fn is_trained_to_score(&self) -> bool {
        trained_to_score(&self.capabilities.model)
    }

    /// With an adapter: the model's id, the adapter's name, and the first 12 digits of its file's SHA-256.
    fn weights(&self, adapter: Option<&str>) -> ModelId {
        self.digests.weights(&self.capabilities.model, adapter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_another_name_is_not_known_to_have_been_trained() {
        for (model, is) in [
            ("apprentice@dbb0368075f9", true),
            ("assistance@dbb0368075f9", false),
        ] {
            assert_eq!(trained_to_score(&ModelId::new(model)), is, "{model}");
        }
    }
}
