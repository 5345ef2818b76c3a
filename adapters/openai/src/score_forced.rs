//! Log-probabilities of tokens that the server is made to write, one after the other.

use journeyman::domain::TokenId;
use serde_json::{Value, json};

use crate::{
    answer::sound,
    error::OpenAiError,
    http::Place,
    retry::Deadline,
    server::{Asked, Server},
};

/// Added to a token's logit, it makes the token the likeliest whatever the others are.
const CERTAIN: f64 = 1e6;

impl Server {
    /// The log-probabilities of `ids` after `prefix`. llama-server gives a written token's log-probability by the model's own
    /// logits, before the bias that made it write the token.
    pub(crate) async fn forced(
        &self,
        asked: &Asked,
        prefix: &[TokenId],
        ids: &[TokenId],
        deadline: Deadline,
    ) -> Result<Vec<f64>, OpenAiError> {
        let mut before = prefix.to_vec();
        let mut logprobs = Vec::with_capacity(ids.len());
        for &id in ids {
            let mut body = json!({
                "prompt": before, "max_tokens": 1, "temperature": 0, "logprobs": 1,
                "logit_bias": {id.to_string(): CERTAIN}, "cache_prompt": true,
            });
            asked.choose_in(&mut body);
            let place = Place::Api("completions");
            let answer = self.paid(place, &body, before.len(), deadline).await?;
            let written = answer.pointer("/choices/0/logprobs/content/0");
            let written = written.unwrap_or(&Value::Null);
            if written.get("id").and_then(Value::as_i64) != Some(i64::from(id)) {
                return Err(OpenAiError::shape(
                    "it has another token than was forced, or does not name it",
                ));
            }
            logprobs.push(sound(written.get("logprob").and_then(Value::as_f64))?);
            before.push(id);
        }
        Ok(logprobs)
    }
}
