//! The world: a ticket desk with four tools. A ticket is closed only after its customer was verified, and refunded only
//! after it was looked up. No task says so; the desk does, when it refuses.

use journeyman::prelude::*;
use serde_json::{Value, json};

use crate::tasks::source;

/// The world for handed-over tasks.
#[derive(Debug)]
pub struct Desk;

/// One task at the desk.
#[derive(Debug)]
pub struct Shift {
    wanted: Value,
    called: Vec<String>,
    seen: Observation,
    /// Whether the task is done.
    pub done: bool,
}

impl Shift {
    /// The desk as a task finds it.
    pub fn new(task: &Task) -> Self {
        let tool = |name: &str, about: &str, argument: &str| {
            let schema = json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
            ToolDefinition::new(name, about, schema)
        };
        let seen = Observation::new(task.instruction.as_str(), source()).with_tools(vec![
            tool("get_ticket", "Looks a ticket up.", "ticket"),
            tool("verify_customer", "Verifies a customer.", "customer"),
            tool("refund", "Refunds a ticket.", "ticket"),
            tool("close_ticket", "Closes a ticket.", "ticket"),
        ]);
        let (wanted, called) = (task.payload.clone(), Vec::new());
        Self {
            wanted,
            called,
            seen,
            done: false,
        }
    }

    /// What a call gives; `Err` where the desk refuses.
    pub fn call(&mut self, call: &ToolCall) -> std::result::Result<&'static str, &'static str> {
        let names = |key: &str| call.arguments.get(key) == self.wanted.get(key);
        let called = |tool: &str| self.called.iter().any(|one| one == tool);
        match call.tool.as_str() {
            "close_ticket" if !called("verify_customer") => {
                return Err("the customer is not verified: call verify_customer first");
            }
            "refund" if !called("get_ticket") => {
                return Err("the ticket was not looked up: call get_ticket first");
            }
            "verify_customer" if names("customer") => {}
            "get_ticket" | "close_ticket" | "refund" if names("ticket") => {}
            _ => return Err("there is no such tool, ticket or customer"),
        }
        self.done = self.wanted["tool"] == call.tool.as_str();
        self.called.push(call.tool.clone());
        Ok("done")
    }
}

#[async_trait]
impl Environment for Desk {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::deterministic()
    }

    async fn reset(&self, task: &Task, _: Seed) -> Result<Box<dyn Episode>> {
        Ok(Box::new(Shift::new(task)))
    }
}

#[async_trait]
impl Episode for Shift {
    fn observation(&self) -> &Observation {
        &self.seen
    }

    async fn step(&mut self, action: &Action) -> Result<Transition> {
        let said = match action {
            Action::Call(calls) => calls.iter().try_fold("", |_, call| self.call(call)),
            _ => return Ok(Transition::end(self.seen.clone(), Outcome::from(self.done))),
        };
        self.seen.text = said.unwrap_or_else(|refusal| refusal).to_owned();
        Ok(match said {
            Ok(_) if self.done => Transition::end(self.seen.clone(), Outcome::success()),
            Ok(_) => Transition::next(self.seen.clone()),
            Err(_) => Transition::refused(self.seen.clone()),
        })
    }

    async fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
