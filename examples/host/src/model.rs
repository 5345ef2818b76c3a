//! The model: scripted, and answering as a 7B instruct model plausibly does, fences and trailing commas included. A host has
//! a GGUF file here (`LlamaCpp` of journeyman-llama-cpp is both a `LanguageModel` and a `Scorer`).

use journeyman::{
    ModelId,
    contract::{GenerateRequest, Generation, ModelCapabilities, ScoreRequest, Scorer, TokenScores},
    domain::{Prompt, Speaker},
    prelude::*,
};
use serde_json::json;

use crate::roles;

/// A model that acts, scores and plays the roles.
#[derive(Debug)]
pub struct Scripted(ModelCapabilities);

impl Scripted {
    pub fn new() -> Self {
        Self(ModelCapabilities::new(ModelId::new("scripted-7b"), 8_192))
    }

    /// The agent's next call. Only what stands in its prompt can make it begin with what the desk demands; without that it
    /// finds out by a refusal, and now and then (by `luck`, in [0, 1)) it gives up there.
    pub fn next_call(&self, prompt: &str, said: &[String], luck: f64) -> Option<ToolCall> {
        let word = |before: &str| {
            let (_, rest) = prompt.split_once(before)?;
            rest.split([' ', '.', '\n']).next()
        };
        let (ticket, customer) = (word("ticket ")?, word("customer ")?);
        let refund = prompt.contains("Refund ticket");
        let (act, first) = match refund {
            true => (
                ToolCall::new("refund", json!({"ticket": ticket})),
                ToolCall::new("get_ticket", json!({"ticket": ticket})),
            ),
            false => (
                ToolCall::new("close_ticket", json!({"ticket": ticket})),
                ToolCall::new("verify_customer", json!({"customer": customer})),
            ),
        };
        let prepared = said.iter().any(|call| call.contains(&first.tool));
        let skilled = prompt
            .lines()
            .any(|line| line.starts_with("SKILL:") && line.contains(&first.tool));
        match (prepared, skilled, said.len()) {
            (true, ..) | (false, false, 0) => Some(act),
            (false, true, _) => Some(first),
            (false, false, _) => (luck >= 0.3).then_some(first),
        }
    }

    fn act(&self, prompt: &Prompt, seed: Seed) -> String {
        let text = |speaker| {
            prompt
                .messages
                .iter()
                .filter(move |one| one.speaker == speaker)
                .map(|one| one.text())
        };
        let said: Vec<String> = text(Speaker::Assistant).collect();
        let asked = text(Speaker::User).next().unwrap_or_default();
        match self.next_call(&asked, &said, seed.unit()) {
            Some(call) => format!(
                "```json\n{{\"tool\": \"{}\", \"arguments\": {},}}\n```",
                call.tool,
                json!(call.arguments)
            ),
            None => "{\"done\": true} // I cannot do this.".to_owned(),
        }
    }
}

impl Default for Scripted {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.0
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let asked = request.prompt.text();
        let answer = roles::answer(&asked);
        let answer = answer.unwrap_or_else(|| self.act(&request.prompt, request.sampling.seed));
        Ok(Generation::new(
            self.0.model.clone(),
            &request.prompt,
            answer,
        ))
    }
}

#[async_trait]
impl Scorer for Scripted {
    fn model(&self) -> &ModelId {
        &self.0.model
    }

    /// A skill is likely behind a query that it is about.
    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let query = request.prompt.text().to_lowercase();
        Ok(request
            .continuations
            .iter()
            .map(|skill| {
                let about = ["close", "refund"]
                    .iter()
                    .any(|verb| query.contains(verb) && skill.contains(verb));
                let tokens = skill.split_whitespace().count();
                let kept = tokens.min(request.max_continuation_tokens);
                let ids = (0..).take(kept).collect();
                TokenScores {
                    ids,
                    logprobs: vec![if about { -0.5 } else { -1.5 }; kept],
                    truncated: kept < tokens,
                }
            })
            .collect())
    }
}
