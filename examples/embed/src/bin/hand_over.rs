//! Hand the tasks over: the model `model.gguf` works at a desk; what it learns is kept in `library`.
#![allow(clippy::print_stdout, reason = "it shows what happens")]
use std::sync::Arc;

use journeyman::{contract::Scorer, prelude::*};
use journeyman_disk::DiskStore;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use serde_json::json;

/// A desk that closes a ticket only after its customer was verified. No task says so.
#[derive(Debug, Default)]
struct Desk(Observation, bool); // what the agent sees; whether the customer was verified
#[async_trait]
impl Environment for Desk {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::deterministic()
    }
    async fn reset(&self, task: &Task, _: Seed) -> Result<Box<dyn Episode>> {
        let tool = |name| ToolDefinition::new(name, name, json!({"type": "object"}));
        let seen = Observation::new(task.instruction.as_str(), Source::trusted("desk"))
            .with_tools(["verify_customer", "close_ticket"].map(tool).to_vec());
        Ok(Box::new(Desk(seen, false)))
    }
}
#[async_trait]
impl Episode for Desk {
    fn observation(&self) -> &Observation {
        &self.0
    }
    async fn step(&mut self, action: &Action) -> Result<Transition> {
        self.1 |= action.has_call("verify_customer");
        self.0.text = format!("The customer is verified: {}.", self.1);
        let seen = self.0.clone();
        Ok(match action.has_call("close_ticket") {
            true if self.1 => Transition::end(seen, Outcome::success()),
            true => Transition::refused(seen),
            false if *action == Action::EndTurn => Transition::end(seen, Outcome::failure()),
            false => Transition::next(seen),
        })
    }
    async fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
pub(crate) async fn learn(model: Arc<impl LanguageModel + Scorer + 'static>) -> Result<()> {
    let library = Arc::new(DiskStore::open("library", &Default::default())?);
    let parts = Components::of_model(model, Arc::new(Desk::default()))?.with_store(library);
    let desk = Journeyman::open(parts, recipe::standard(), Options::new("desk", Seed(7))).await?;
    let task = |n: u32| Task::new(n.to_string(), format!("Close ticket T-{n} of customer A."));
    let before = desk.evaluate((100..140).map(task).collect()).await?; // changes nothing
    desk.learn((0..24).map(task).collect()).await?; // other tasks
    let after = desk.evaluate((100..140).map(task).collect()).await?;
    println!("before: {before}after: {after}");
    Ok(())
}
#[tokio::main]
async fn main() -> Result<()> {
    learn(LlamaCpp::load(LlamaConfig::new("model.gguf"))?).await
}
