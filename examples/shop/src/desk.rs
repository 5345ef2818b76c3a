//! The world: `requests.json` has what customers write, and what the desk demands.

use std::sync::LazyLock;

use journeyman::prelude::*;
use serde::Deserialize;

/// A kind of request.
#[derive(Debug, Deserialize)]
pub struct Kind {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) tools: Vec<String>, // in the order that the desk demands; the customer asks for the last
    pub(crate) rule: String,       // the house rule that demands the others; empty without one
    messages: [Vec<String>; 2],    // to learn from, and held out
}

pub(crate) static KINDS: LazyLock<Vec<Kind>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../requests.json")).unwrap_or_default());

/// Requests of each kind in turn. Held-out ones are worded in other ways; those with a house rule have the kind as a tag.
pub fn tasks(seed: Seed, count: u64, held_out: bool) -> Vec<Task> {
    let set = usize::from(held_out);
    let task = |number: u64| {
        let kind = &KINDS[number as usize % KINDS.len()];
        let drawn = seed.derive("message", number).0 as usize % kind.messages[set].len();
        let tag = (!kind.rule.is_empty()).then_some(&kind.name);
        Task::new(format!("{set}-{number}"), &kind.messages[set][drawn]).with_tags(tag)
    };
    (0..count).map(task).collect()
}

/// The kind of the request that stands in a text.
pub fn read(text: &str) -> Option<&'static Kind> {
    let is_in = |message: &String| text.contains(message);
    let mut kinds = KINDS.iter();
    kinds.find(|kind| kind.messages.iter().flatten().any(is_in))
}

/// The desk with a request: what the agent sees, the tools that are left to call, the rule, the score so far.
#[derive(Debug, Default)]
pub struct Desk(Observation, &'static [String], &'static str, f64);

#[async_trait]
impl Environment for Desk {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::deterministic()
    }
    async fn reset(&self, task: &Task, _: Seed) -> Result<Box<dyn Episode>> {
        let unknown = || Error::invalid("Desk::reset", "the desk knows no such request");
        let kind = read(&task.instruction).ok_or_else(unknown)?;
        let seen = Observation::new(task.instruction.as_str(), Source::trusted("desk"));
        Ok(Box::new(Self(seen, &kind.tools, &kind.rule, 1.0)))
    }
}

#[async_trait]
impl Episode for Desk {
    fn observation(&self) -> &Observation {
        &self.0
    }
    async fn step(&mut self, action: &Action) -> Result<Transition> {
        let called = self.1.iter().position(|tool| action.has_call(tool));
        self.0.text = match called {
            Some(0) => "Done.".to_owned(),
            Some(_) => format!("{} Call {} first.", self.2, self.1[0]),
            None => "This customer has not asked for that.".to_owned(),
        };
        let seen = self.0.clone();
        if called != Some(0) {
            self.3 = 0.5; // whoever is kept waiting is half served
            return Ok(Transition::refused(seen));
        }
        self.1 = &self.1[1..];
        Ok(match self.1 {
            [] => Transition::end(seen, Outcome::scored(true, self.3)),
            _ => Transition::next(seen),
        })
    }
    async fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
