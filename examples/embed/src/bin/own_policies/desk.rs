//! A desk that wants a tool called before another one, and an agent that works there without a model.

use std::collections::VecDeque;

use journeyman::{
    Error, Result,
    agent::{FnEnvironment, Reply},
    async_trait,
    contract::{Attempt, Episode, Executor},
    domain::{
        Action, EndReason, Observation, SkillUse, Source, Step, StepResult, ToolDefinition,
        Trajectory,
    },
};
use serde_json::json;

/// The tool that no skill may teach.
pub(crate) const OVERRIDE: &str = "override_policy";
/// A tool that changes nothing.
const LOOK: &str = "read_notes";
/// Greatest number of steps of an attempt.
const MOST_STEPS: usize = 12;
/// The first word of a task, the tool that does the task, and the tool that the desk wants called before it. No task says so.
const KINDS: [(&str, &str, &str); 3] = [
    ("Refund", "refund_order", "verify_customer"),
    ("Exchange", "exchange_order", "check_stock"),
    ("Cancel", "cancel_order", OVERRIDE),
];

/// A task at the desk.
#[derive(Debug)]
pub(crate) struct Work {
    does: &'static str,
    wants: &'static str,
    is_prepared: bool,
}

pub(crate) fn desk() -> Result<FnEnvironment<Work>> {
    let names = KINDS.into_iter();
    let names = names.flat_map(|(_, does, wants)| [does, wants]);
    let names = names.chain([LOOK]);
    let tools = names.map(|name| ToolDefinition::new(name, name, json!({"type": "object"})));
    FnEnvironment::from_task(
        Source::trusted("desk"),
        tools,
        |task, _| {
            let mut kinds = KINDS.into_iter();
            let kind = kinds.find(|(verb, ..)| task.instruction.starts_with(*verb));
            let unknown = || Error::invalid("desk", "the desk has no task that begins so");
            let (_, does, wants) = kind.ok_or_else(unknown)?;
            Ok(Work {
                does,
                wants,
                is_prepared: false,
            })
        },
        |work: &mut Work, call| {
            work.is_prepared |= call.tool == work.wants;
            match call.tool == work.does {
                true if work.is_prepared => Reply::done("It is done."),
                true => Reply::refused(format!("Call `{}` first.", work.wants)),
                false => Reply::next("It is noted."),
            }
        },
    )
}

/// Follows a skill whose tools the desk has. Without one it looks around up to twice, calls the tool that its task is
/// named for, and calls what a refusal asks for.
#[derive(Debug)]
pub(crate) struct Agent;

#[async_trait]
impl Executor for Agent {
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        let verb = attempt.task.instruction.split(' ').next();
        let own = format!("{}_order", verb.unwrap_or_default().to_lowercase());
        let mut planned = plan(&attempt, episode.observation());
        let mut trajectory = attempt.trajectory();
        trajectory.end = EndReason::StepBudget;
        for number in 0..MOST_STEPS {
            let action = match attempt.prefix.get(number) {
                Some(action) => action.clone(),
                None => {
                    let tool = planned.pop_front().unwrap_or_else(|| own.clone());
                    Action::call(tool, json!({}))
                }
            };
            let seen = episode.observation().clone();
            let transition = episode.step(&action).await?;
            let result = StepResult::from(&transition);
            if result.is_error {
                planned.extend(marked(&result.text));
            }
            trajectory.push(Step::new(action, result).seeing(seen));
            if transition.outcome.is_some() {
                (trajectory.outcome, trajectory.end) = (transition.outcome, EndReason::Finished);
                break;
            }
        }
        Ok(trajectory)
    }
}

/// The tools to call first: those of a skill, or a look around. It says of each skill whether it is followed.
fn plan(attempt: &Attempt<'_>, seen: &Observation) -> VecDeque<String> {
    for injected in &attempt.injection.skills {
        let tools: VecDeque<String> = marked(&injected.text).collect();
        let has = |name: &String| seen.tools.iter().any(|tool| tool.name == *name);
        let is_followed = tools.iter().all(has);
        let used = match is_followed {
            true => SkillUse::Followed,
            false => SkillUse::NotFollowed,
        };
        attempt.guidance.used(&injected.skill, used);
        if is_followed {
            return tools;
        }
    }
    let looks = attempt.seed.index(3).unwrap_or_default();
    std::iter::repeat_n(LOOK.to_owned(), looks).collect()
}

/// The names between backticks.
fn marked(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}
