//! Hand the tasks over: `cargo run -p embed --bin hand_over` makes the folder `library` where it is started.
#![allow(clippy::print_stdout, reason = "it shows what happens")]
use std::{ops::Range, path::Path, sync::Arc};

use host::{hand_over::learn_and_compare, model::Scripted, tasks::task};
use journeyman::prelude::*;
use serde_json::json;

/// A desk that closes a ticket only after its customer was verified. No task says so.
#[derive(Debug)]
struct Desk;
#[derive(Debug)]
struct Shift(Observation, bool); // what the agent sees; whether the customer was verified

#[async_trait]
impl Environment for Desk {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::deterministic()
    }
    async fn reset(&self, task: &Task, _: Seed) -> Result<Box<dyn Episode>> {
        let tool = |name| ToolDefinition::new(name, name, json!({"type": "object"}));
        let seen = Observation::new(task.instruction.as_str(), Source::trusted("desk"))
            .with_tools(["verify_customer", "close_ticket"].map(tool).to_vec());
        Ok(Box::new(Shift(seen, false)))
    }
}

#[async_trait]
impl Episode for Shift {
    fn observation(&self) -> &Observation {
        &self.0
    }
    async fn step(&mut self, action: &Action) -> Result<Transition> {
        let called = |tool| matches!(action, Action::Call(calls) if calls.iter().any(|one| one.tool == tool));
        self.1 |= called("verify_customer");
        self.0.text = format!("The customer is verified: {}.", self.1);
        let seen = self.0.clone();
        Ok(match called("close_ticket") {
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

#[tokio::main]
async fn main() -> Result<()> {
    let (model, world) = (Arc::new(Scripted::default()), Arc::new(Desk));
    let closings = |range: Range<usize>| range.step_by(2).map(task).collect();
    let (tasks, held_out) = (closings(0..48), closings(100..180));
    let (judge, library) = (Arc::new(EnvironmentJudge), Path::new("library"));
    let (before, after) = learn_and_compare(model, world, judge, library, tasks, held_out).await?;
    println!("before: {before}after: {after}");
    Ok(())
}
