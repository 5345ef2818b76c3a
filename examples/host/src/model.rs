//! The model: scripted, and answering as a 7B instruct model plausibly does, fences and trailing commas included. A host has
//! a GGUF file here (`LlamaCpp` of journeyman-llama-cpp is both a `LanguageModel` and a `Scorer`).

use journeyman::{
    ModelId,
    contract::{GenerateRequest, Generation, ModelCapabilities},
    domain::{Prompt, Speaker},
    prelude::*,
};
use serde_json::json;

use crate::roles;

/// A model that acts, scores and plays the roles.
#[derive(Debug)]
pub struct Scripted(pub(crate) ModelCapabilities);

impl Default for Scripted {
    fn default() -> Self {
        Self(ModelCapabilities::new(ModelId::new("scripted-7b"), 8_192))
    }
}

impl Scripted {
    /// The agent's next call. Only what stands in its prompt can make it begin with what the desk demands; without that it
    /// finds out by a refusal, and now and then (by `luck`, in [0, 1)) it gives up there.
    pub fn next_call(&self, prompt: &str, said: &[String], luck: f64) -> Option<ToolCall> {
        let mut lines = prompt.lines();
        let task =
            lines.find(|line| line.contains(" ticket T-") && line.contains(" of customer "))?;
        let after = |word| task.split(word).nth(1)?.split([' ', '.']).next();
        let ticket = json!({"ticket": after("ticket ")});
        let customer = json!({"customer": after("customer ")});
        let (act, first) = match task.starts_with("Refund") {
            true => (
                ToolCall::new("refund", ticket.clone()),
                ToolCall::new("get_ticket", ticket),
            ),
            false => (
                ToolCall::new("close_ticket", ticket),
                ToolCall::new("verify_customer", customer),
            ),
        };
        let prepared = said.iter().any(|call| call.contains(&first.tool));
        let is_skill = |line: &str| line.starts_with("SKILL:") && line.contains(&first.tool);
        match (prepared, prompt.lines().any(is_skill), said.len()) {
            (true, ..) | (false, false, 0) => Some(act),
            (false, true, _) => Some(first),
            (false, false, _) => (luck >= 0.3).then_some(first),
        }
    }

    fn act(&self, prompt: &Prompt, seed: Seed) -> String {
        let (mut said, mut asked) = (Vec::new(), String::new());
        for message in &prompt.messages {
            match message.speaker {
                Speaker::Assistant => said.push(message.text()),
                Speaker::User if asked.is_empty() => asked = message.text(),
                _ => {}
            }
        }
        match self.next_call(&asked, &said, seed.unit()) {
            Some(ToolCall {
                tool, arguments, ..
            }) => {
                let arguments = json!(arguments);
                format!("```json\n{{\"tool\": \"{tool}\", \"arguments\": {arguments},}}\n```")
            }
            None => "{\"done\": true} // I cannot do this.".to_owned(),
        }
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
