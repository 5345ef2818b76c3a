//! Keep your own loop: your agent works at a till; `model.gguf` scores and writes skills for it, kept in `library`.
#![allow(clippy::print_stdout, reason = "it shows what happens")]
use std::sync::Arc;

use journeyman::{contract::Scorer, prelude::*};
use journeyman_disk::DiskStore;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};

/// Your world: a till that refunds a ticket only after it was looked up. No task says so.
fn till(tool: &str, made: &[&str]) -> StepResult {
    let source = Source::trusted("till");
    match tool == "refund" && !made.contains(&"get_ticket") {
        true => StepResult::refused("call get_ticket first", source),
        false => StepResult::new("done", source),
    }
}

/// Your agent: it looks a ticket up only where its prompt says so, or after a refusal.
fn next_tool(prompt: &str, made: &[&str]) -> &'static str {
    let is_told = prompt.contains("get_ticket") || !made.is_empty();
    match is_told && !made.contains(&"get_ticket") {
        true => "get_ticket",
        false => "refund",
    }
}
pub(crate) async fn learn(model: Arc<impl LanguageModel + Scorer + 'static>) -> Result<()> {
    let components = Components::own_loop()
        .with_scorer(model.clone())
        .with_model(model)
        .with_prompt_format(Arc::new(ChatFormat::default()))
        .with_roles(Arc::new(GeneralRoles::shipped()?))
        .with_store(Arc::new(DiskStore::open("library", &Default::default())?));
    let options = Options::new("till", Seed(7));
    let session = Journeyman::open(components, recipe::standard(), options).await?;
    for n in 0..20 {
        let instruction = format!("Refund ticket T-{n} of customer A.");
        let mut attempt = session.begin(Task::new(n.to_string(), instruction)).await?;
        let prompt = attempt.prompt(); // the task, behind a skill where one was chosen
        let (mut made, mut refused, mut refunded) = (Vec::new(), 0, false);
        while !refunded {
            let tool = next_tool(&prompt, &made);
            let result = till(tool, &made);
            refused += usize::from(result.is_error);
            refunded = tool == "refund" && !result.is_error;
            made.push(tool);
            let call = Action::call(tool, serde_json::json!({"ticket": n}));
            attempt.record(Step::new(call, result));
        }
        let skilled = attempt.skill().is_some();
        println!("task {n}: {refused} calls refused, with a skill: {skilled}");
        attempt.finish(Outcome::from(refunded)).await?;
    }
    Ok(())
}
#[tokio::main]
async fn main() -> Result<()> {
    learn(LlamaCpp::load(LlamaConfig::new("model.gguf"))?).await
}
