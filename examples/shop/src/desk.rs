//! The world. What customers write and what the desk demands is in `requests.json`.

use std::sync::LazyLock;

use journeyman::prelude::*;
use serde::Deserialize;

/// A kind of request.
#[derive(Debug, Deserialize)]
pub struct Kind {
    pub(crate) name: String,
    pub(crate) tools: Vec<String>, // in the order that the desk demands; the customer asks for the last
    pub(crate) rule: String,       // the house rule that demands the others; empty without one
    wordings: [Vec<String>; 2],    // to learn from, and held out
}

pub(crate) static KINDS: LazyLock<Vec<Kind>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../requests.json")).unwrap_or_default());
const SLOTS: [(&str, &[&str]); 3] = [
    ("{name}", &["Ada", "Tom Reyes", "J. Lindt", "Priya", "Noor"]),
    ("{product}", &["kettle", "desk lamp", "suitcase", "mirror"]),
    ("{order}", &["10482", "23119", "A-5530", "77104", "90217"]),
];

/// Requests of each kind in turn. Held-out ones have wordings of their own; those with a house rule have a tag.
pub fn tasks(seed: Seed, count: usize, held_out: bool) -> Vec<Task> {
    let task = |(number, kind): (u64, &Kind)| {
        let seed = seed.derive(if held_out { "held out" } else { "training" }, number);
        let draw = |what, from| seed.derive(what, 0).index(from).unwrap_or_default();
        let wordings = &kind.wordings[usize::from(held_out)];
        let mut text = wordings[draw("wording", wordings.len())].clone();
        for (slot, values) in SLOTS {
            text = text.replace(slot, values[draw(slot, values.len())]);
        }
        let tag = (!kind.rule.is_empty()).then_some("house rule");
        Task::new(seed.to_string(), text).with_tags(tag)
    };
    let kinds = KINDS.iter().cycle().take(count);
    (0..).zip(kinds).map(task).collect()
}

impl Kind {
    /// Reads a text with a request in it: its kind, and its wording without names and numbers.
    pub fn read(text: &str) -> Option<(&'static Self, String)> {
        let parts = |wording: &'static str| wording.split(['{', '}']).step_by(2);
        let is_in = |one: &&'static String| parts(one).all(|part| text.contains(part));
        KINDS.iter().find_map(|kind| {
            let wording = kind.wordings.iter().flatten().find(is_in)?;
            Some((kind, wording.replace(['{', '}'], "")))
        })
    }
}

/// The desk, and a request at it: what is seen, the tools that are left, the rule, and the score.
#[derive(Debug, Default)]
pub struct Desk(Observation, &'static [String], &'static str, f64);

#[async_trait]
impl Environment for Desk {
    fn capabilities(&self) -> EnvironmentCapabilities {
        EnvironmentCapabilities::deterministic()
    }
    async fn reset(&self, task: &Task, _: Seed) -> Result<Box<dyn Episode>> {
        let unknown = || Error::invalid("Desk::reset", "the desk knows no such request");
        let (kind, _) = Kind::read(&task.instruction).ok_or_else(unknown)?;
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
        let [next, later @ ..] = self.1 else {
            return Err(Error::invalid("Desk::step", "the request is served"));
        };
        self.0.text = match later.iter().any(|tool| action.has_call(tool)) {
            _ if action.has_call(next) => "Done.".to_owned(),
            true => format!("{} Call {next} first.", self.2),
            false => "This customer has not asked for that.".to_owned(),
        };
        if !action.has_call(next) {
            self.3 = 0.5; // whoever is kept waiting is half served
            return Ok(Transition::refused(self.0.clone()));
        }
        self.1 = later;
        Ok(match later {
            [] => Transition::end(self.0.clone(), Outcome::scored(true, self.3)),
            _ => Transition::next(self.0.clone()),
        })
    }
    async fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
