//! The scripted parts: an agent that knows the tool for each request and no house rule, a writer of skills, and a scorer.

use journeyman::testing::{Play, ScriptedModel, ScriptedScorer};
use journeyman::{domain::Injection, prelude::*};
use serde_json::json;

use crate::desk::{KINDS, read};

/// The agent's next call; `None` to give up. It obeys its skill, whatever that is about, until a call is refused. Then it does
/// what the refusal says, or now and then gives up.
pub fn next_call(task: &Task, given: &Injection, steps: &[Step], seed: Seed) -> Option<Action> {
    let refusal = steps.iter().rev().find(|step| step.result.is_error);
    if refusal.is_some() && seed.unit() < 0.2 {
        return None;
    }
    let skill = given.skills.first().map_or("", |skill| &skill.text);
    let advice = refusal.map_or(skill, |step| &step.result.text);
    let is_new = |tool: &&String| !steps.iter().any(|step| step.action.has_call(tool));
    let tools = KINDS.iter().flat_map(|kind| &kind.tools).filter(is_new);
    let advised = tools.filter_map(|tool| Some((advice.find(tool.as_str())?, tool)));
    let known = read(&task.instruction)?.tools.last()?;
    let (_, tool) = advised.min().unwrap_or((0, known));
    Some(Action::call(tool, json!({})))
}

/// Writes a skill from an attempt that met the rule: what it is for, the calls, the rule.
pub fn writer() -> ScriptedModel {
    ScriptedModel::by(|request, _| {
        let attempt = request.prompt.text();
        let kind = read(&attempt).filter(|kind| attempt.contains(&kind.rule));
        let skill = kind.map(|kind| {
            let calls = kind.tools.iter().map(|tool| format!("Call {tool}"));
            let method: Vec<_> = calls.chain(["Answer the customer".to_owned()]).collect();
            json!({"skill_name": kind.name, "key_insight": kind.about, "method": method, "check": kind.rule})
        });
        Play::Give(skill.unwrap_or_default().to_string())
    })
}

/// Holds a skill for the likelier, the more long words of the message it has.
pub fn scorer() -> ScriptedScorer {
    ScriptedScorer::by(|message, skill| {
        let message = message.text();
        let words = message.split(' ').filter_map(|word| word.get(..6));
        let shared = words.filter(|word| skill.contains(word)).count();
        Play::Give(0.12 * shared.min(5) as f64 - 2.0)
    })
}
