//! What the scripted model says of a given text: the log-probabilities that the gate decides by.

use journeyman::{
    ModelId,
    contract::{ScoreRequest, Scorer, TokenScores},
    prelude::*,
};

use crate::model::Scripted;

#[async_trait]
impl Scorer for Scripted {
    fn model(&self) -> &ModelId {
        &self.0.model
    }

    /// A skill is likely behind a query that it is about.
    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let query = request.prompt.text().to_lowercase();
        let score = |skill: &String| {
            let verbs = ["close", "refund"];
            let about = verbs
                .iter()
                .any(|verb| query.contains(verb) && skill.contains(verb));
            let tokens = skill.split_whitespace().count();
            let kept = tokens.min(request.max_continuation_tokens);
            TokenScores::new(
                (0..).take(kept).collect(),
                vec![if about { -0.5 } else { -1.5 }; kept],
            )
            .with_truncated(kept < tokens)
        };
        Ok(request.continuations.iter().map(score).collect())
    }

    fn is_trained_to_score(&self) -> bool {
        // A real model that was not trained for it leaves this out.
        true
    }
}
