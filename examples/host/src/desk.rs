//! The world: a ticket desk with four tools. A ticket is closed only after its customer was verified, and refunded only
//! after it was looked up. No task says so; the desk does, when it refuses.

use journeyman::prelude::*;
use serde_json::{Value, json};

/// What the desk says may be learned from at once: it is the host's own. Untrusted is the default, and what is learned from
/// an untrusted source is quarantined.
pub fn source() -> Source {
    Source::trusted("ticket desk")
}

/// The `n`-th task: to close or to refund a ticket.
pub fn task(n: usize) -> Task {
    let customer = ["Ada", "Bob", "Cy", "Di", "Eve"][n % 5];
    let (verb, tool) = [("Close", "close_ticket"), ("Refund", "refund")][n % 2];
    Task::new(
        format!("desk-{n}"),
        format!("{verb} ticket T-{n} of customer {customer}."),
    )
    .with_payload(json!({"tool": tool, "ticket": format!("T-{n}"), "customer": customer}))
}

/// The world for handed-over tasks.
#[derive(Debug)]
pub struct Desk;

/// One task at the desk.
#[derive(Debug)]
pub struct Shift {
    wanted: Value,
    verified: bool,
    looked_up: bool,
    pub done: bool,
    seen: Observation,
}

impl Shift {
    pub fn new(task: &Task) -> Self {
        let ticket = json!({"type": "object", "properties": {"ticket": {"type": "string"}}, "required": ["ticket"]});
        let customer = json!({"type": "object", "properties": {"customer": {"type": "string"}}, "required": ["customer"]});
        let tools = vec![
            ToolDefinition::new("get_ticket", "Looks a ticket up.", ticket.clone()),
            ToolDefinition::new("verify_customer", "Verifies a customer.", customer),
            ToolDefinition::new("refund", "Refunds a ticket.", ticket.clone()),
            ToolDefinition::new("close_ticket", "Closes a ticket.", ticket),
        ];
        let seen = Observation::new(task.instruction.as_str(), source()).with_tools(tools);
        Self {
            wanted: task.payload.clone(),
            verified: false,
            looked_up: false,
            done: false,
            seen,
        }
    }

    /// What a call gives; `Err` where the desk refuses.
    pub fn call(&mut self, call: &ToolCall) -> std::result::Result<&'static str, &'static str> {
        let names = |key: &str| call.arguments.get(key) == self.wanted.get(key);
        match call.tool.as_str() {
            "verify_customer" if names("customer") => self.verified = true,
            "get_ticket" if names("ticket") => self.looked_up = true,
            "close_ticket" if !self.verified => {
                return Err("the customer is not verified: call verify_customer first");
            }
            "refund" if !self.looked_up => {
                return Err("the ticket was not looked up: call get_ticket first");
            }
            "close_ticket" | "refund" if names("ticket") => {
                self.done = self.wanted["tool"] == call.tool.as_str()
            }
            _ => return Err("there is no such tool, ticket or customer"),
        }
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
