//! Rule-based policies. They show which steps a task needs, write the traces of the training text, and test the worlds.

use std::collections::VecDeque;

use crate::lexicon::value_for;
use crate::refusal::Refusal;
use crate::seed::Draws;
use crate::simulate::{Outcome, Reply, Simulation};
use crate::tool::{DEFAULT_SLOT, RESULT_SLOT, Setting, SkillText, TASK_SLOT, Tool};
use crate::world::World;

/// One call of a trace and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The command line.
    pub call: String,
    /// The answer.
    pub reply: Reply,
}

#[derive(Debug, Clone)]
enum Step {
    Line(String),
    Target,
}

/// A policy that acts by rule: follows a skill where it has one, and corrects what a refusal names.
#[derive(Debug, Clone)]
pub struct Policy {
    tool: Tool,
    known: Vec<Setting>,
    given: Vec<String>,
    steps: VecDeque<Step>,
}

impl Policy {
    /// A policy that knows only the task and the usage lines.
    #[must_use]
    pub fn novice(world: &World) -> Option<Self> {
        let tool = world.target()?.tool.clone();
        Some(Self {
            tool,
            known: world.goal.given.clone(),
            given: world.given_names(),
            steps: VecDeque::from([Step::Target]),
        })
    }

    /// A policy that follows a skill about the target.
    #[must_use]
    pub fn follower(world: &World, skill: &SkillText) -> Option<Self> {
        let mut policy = Self::novice(world)?;
        let (last, helpers) = skill.steps.split_last()?;
        for pair in last
            .split_whitespace()
            .skip(2)
            .collect::<Vec<_>>()
            .chunks(2)
        {
            if let [parameter, value] = pair
                && ![DEFAULT_SLOT, TASK_SLOT, RESULT_SLOT].contains(value)
            {
                policy.learn(Setting {
                    parameter: (*parameter).to_owned(),
                    value: (*value).to_owned(),
                });
            }
        }
        for line in helpers.iter().rev() {
            policy.steps.push_front(Step::Line(line.clone()));
        }
        Some(policy)
    }

    /// Makes these calls first, whatever they do; slots get their default.
    pub(crate) fn after(mut self, lines: &[String]) -> Self {
        for line in lines.iter().rev() {
            let words = line.split_whitespace();
            let line: Vec<&str> = words
                .map(|word| {
                    if [TASK_SLOT, RESULT_SLOT].contains(&word) {
                        DEFAULT_SLOT
                    } else {
                        word
                    }
                })
                .collect();
            self.steps.push_front(Step::Line(line.join(" ")));
        }
        self
    }

    /// Replaces one of the values that the task gives by a wrong one.
    pub(crate) fn garble(&mut self, draws: &mut Draws) {
        let names = self
            .known
            .iter()
            .filter(|known| self.given.contains(&known.parameter));
        let names: Vec<String> = names.map(|known| known.parameter.clone()).collect();
        if let Some(parameter) = draws.pick(&names) {
            let old = self
                .known
                .iter()
                .find(|known| known.parameter == *parameter);
            let old = old.map(|known| known.value.clone());
            let mut value = value_for(parameter, draws);
            while Some(&value) == old.as_ref() {
                value = value_for(parameter, draws);
            }
            self.learn(Setting {
                parameter: parameter.clone(),
                value,
            });
        }
    }

    /// The next command line.
    pub fn next_call(&mut self) -> String {
        match self.steps.pop_front() {
            Some(Step::Line(line)) => line,
            Some(Step::Target) | None => self.target_call(),
        }
    }

    /// The call of the target with all values known so far.
    #[must_use]
    pub fn target_call(&self) -> String {
        let known = |name: &str| self.known.iter().find(|setting| setting.parameter == name);
        self.tool
            .call(|parameter| known(parameter).map(|setting| setting.value.as_str()))
    }

    /// Learns from an answer.
    pub fn hear(&mut self, reply: &Reply) {
        match &reply.outcome {
            Outcome::Accepted(Some(setting)) => self.learn(setting.clone()),
            Outcome::Refused(Refusal::NeedsValue(setting)) => self.learn(setting.clone()),
            Outcome::Refused(
                Refusal::NeedsCall(helper) | Refusal::NeedsResult { source: helper, .. },
            ) => {
                self.steps = VecDeque::from([Step::Line(helper.to_string()), Step::Target]);
            }
            Outcome::Accepted(None) | Outcome::Refused(_) | Outcome::Done => {}
        }
    }

    fn learn(&mut self, setting: Setting) {
        self.known
            .retain(|known| known.parameter != setting.parameter);
        self.known.push(setting);
    }

    /// Acts until the task is done or `most` calls were made.
    pub fn run(mut self, simulation: &mut Simulation, most: usize) -> Vec<Exchange> {
        let mut trace = Vec::new();
        while !simulation.is_done() && trace.len() < most {
            let call = self.next_call();
            let reply = simulation.call(&call);
            self.hear(&reply);
            trace.push(Exchange { call, reply });
        }
        trace
    }
}
