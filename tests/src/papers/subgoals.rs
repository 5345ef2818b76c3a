//! Subgoals and plans in toolworld: when a subgoal is completed, and how a plan is written as a skill.

use std::collections::BTreeMap;

use journeyman::{
    domain::{Action, Origin, Skill, Subgoal, Trace, Trajectory},
    papers::scribe::Plan,
};
use journeyman_toolworld::{
    environment::command,
    tool::{SkillText, TASK_SLOT, ToolName},
};
use quickstart::spoken;

use crate::skills::admitted;

/// The tool that a step calls.
pub fn tool(trajectory: &Trajectory, step: usize) -> Option<&str> {
    match &trajectory.steps.get(step)?.action {
        Action::Call(calls) => Some(calls.last()?.tool.as_str()),
        _ => None,
    }
}

/// Whether the agent completes a subgoal in as many steps of its own as the subgoal has: the tool of its last call is called and
/// accepted.
pub fn completes(of: &Trace, subgoal: &Subgoal, rollout: &Trajectory, own: usize) -> Option<bool> {
    let wanted = tool(&of.trajectory, subgoal.last)?;
    let until = own + subgoal.last - subgoal.first + 1;
    let steps = own..until.min(rollout.steps.len());
    let accepted = |step: usize| {
        rollout
            .steps
            .get(step)
            .is_some_and(|one| !one.result.is_error)
    };
    Some(
        steps
            .into_iter()
            .any(|step| tool(rollout, step) == Some(wanted) && accepted(step)),
    )
}

/// A plan as a skill: the call that ends each subgoal, with a slot for what the task gave.
pub fn rendered(plan: &Plan, attempts: &BTreeMap<&str, &Trace>) -> Option<Skill> {
    let attempt = *attempts.get(plan.attempt.as_str())?;
    let given: Vec<&str> = attempt.task.instruction.split_whitespace().collect();
    let call = |subgoal: &Subgoal| {
        let step = attempt.trajectory.steps.get(subgoal.last)?;
        let Action::Call(calls) = &step.action else {
            return None;
        };
        let call = command(calls.last()?);
        let words = call.split_whitespace();
        let slots = words.enumerate().map(|(place, word)| {
            // A value is every second word behind the tool.
            let is_given = place > 2 && place % 2 == 1 && given.contains(&word);
            if is_given { TASK_SLOT } else { word }
        });
        Some(slots.collect::<Vec<_>>().join(" "))
    };
    let steps: Vec<String> = plan.subgoals.iter().filter_map(call).collect();
    let text = SkillText {
        title: ToolName::parse(steps.last()?)?,
        steps,
    };
    let mut skill = admitted(&spoken::written(&text)?, "a-plan", Origin::Human).ok()?;
    skill.provenance.tasks.push(plan.task.clone());
    Some(skill)
}
