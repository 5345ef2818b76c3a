//! The skills of toolworld as procedures, and procedures that nearly are the same.

use journeyman::{
    Seed,
    domain::{
        Action, EndReason, Observation, Outcome, Source, Step as Made, StepResult, Task,
        ToolDefinition, Trajectory,
    },
};
use journeyman_toolworld::{
    lexicon::{NOUNS, value_for},
    seed::Draws,
    tool::{DEFAULT_SLOT, RESULT_SLOT, SkillText, TASK_SLOT, ToolName, wire_name},
};
use serde_json::{Map, Value as Json, json};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// This one.
    Exact(String),
    /// The one that the task gives.
    Task,
    /// The one that the latest result gave.
    Result,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) tool: ToolName,
    pub(super) settings: Vec<(String, Value)>,
}

impl Step {
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let settings = words.get(2..)?.chunks_exact(2).filter_map(|pair| {
            let [parameter, value] = pair else {
                return None;
            };
            let value = match *value {
                DEFAULT_SLOT => return None,
                TASK_SLOT => Value::Task,
                RESULT_SLOT => Value::Result,
                exact => Value::Exact(exact.to_owned()),
            };
            Some(((*parameter).to_owned(), value))
        });
        Some(Self {
            tool: ToolName::parse(line)?,
            settings: settings.collect(),
        })
    }
}

/// What a skill says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Procedure {
    pub(super) title: ToolName,
    pub(super) steps: Vec<Step>,
}

/// How a procedure differs from another one.
pub(super) const DIFFERENCES: [&str; 4] = [
    "another name",
    "another value",
    "a step less",
    "steps swapped",
];

impl Procedure {
    pub(super) fn of(text: &SkillText) -> Self {
        Self {
            title: text.title.clone(),
            steps: text
                .steps
                .iter()
                .filter_map(|line| Step::parse(line))
                .collect(),
        }
    }

    /// Procedures with one difference, each with the index of that in [`DIFFERENCES`]. A procedure of one step has no step to
    /// leave out or swap, and one without values no other value.
    pub(super) fn near_misses(&self, draws: &mut Draws) -> Vec<(usize, Self)> {
        let mut found = Vec::new();
        let mut renamed = self.clone();
        let at = draws.below(renamed.steps.len());
        if let Some(step) = renamed.steps.get_mut(at) {
            while Some(&step.tool) == self.steps.get(at).map(|step| &step.tool) {
                step.tool.noun = draws.word(NOUNS).to_owned();
            }
            found.push((0, renamed));
        }
        let mut revalued = self.clone();
        let settings = revalued
            .steps
            .iter_mut()
            .flat_map(|step| &mut step.settings);
        let exact = settings.filter_map(|(parameter, value)| match value {
            Value::Exact(value) => Some((parameter, value)),
            _ => None,
        });
        if let Some((parameter, value)) = exact.last() {
            let before = value.clone();
            while *value == before {
                *value = value_for(parameter, draws);
            }
            found.push((1, revalued));
        }
        if self.steps.len() > 1 {
            let mut shorter = self.clone();
            shorter.steps.remove(draws.below(self.steps.len() - 1));
            found.push((2, shorter));
            let mut swapped = self.clone();
            // The last two: the calls before the last may be in any order.
            let last = self.steps.len() - 1;
            swapped.steps.swap(last - 1, last);
            found.push((3, swapped));
        }
        found
    }

    /// An attempt that follows it.
    pub(super) fn attempt(&self, task: &Task, attempt: &str, seed: Seed) -> Trajectory {
        let mut draws = Draws::new("attempt", &[seed.0]);
        let tools: Vec<ToolDefinition> = self
            .steps
            .iter()
            .map(|step| ToolDefinition::new(wire_name(&step.tool), "", json!({"type": "object"})))
            .collect();
        let world = || Source::trusted("toolworld");
        let mut trajectory = Trajectory::new(attempt.into(), task.id.clone(), seed);
        for step in &self.steps {
            let mut arguments = Map::new();
            for (parameter, value) in &step.settings {
                let value = match value {
                    Value::Exact(value) => value.clone(),
                    Value::Task | Value::Result => value_for(parameter, &mut draws),
                };
                let value = match value.parse::<u64>() {
                    Ok(number) => json!(number),
                    Err(_) => json!(value),
                };
                arguments.insert(parameter.clone(), value);
            }
            let call = Action::call(wire_name(&step.tool), Json::Object(arguments));
            let seen = Observation::new(task.instruction.clone(), world());
            let made = Made::new(call, StepResult::new("ok", world()));
            trajectory.push(made.seeing(seen.with_tools(tools.clone())));
        }
        trajectory.outcome = Some(Outcome::success());
        trajectory.end = EndReason::Finished;
        trajectory
    }
}
