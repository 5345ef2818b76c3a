//! Reads answers that are skills, and writes the prompts of comparisons.

use journeyman::Result;
use journeyman::contract::{RoleAnswer, RoleTask};
use journeyman::domain::{Action, SkillDraft, SkillName, Step, ToolCall, Trace};
use serde_json::Value;

use super::shown::{shown, tools_shown};
use super::unusable::unusable;
use crate::roles::{NOTHING, Rule, conclusion};
use crate::script::Script;
use crate::skill_form::{read_body, to_draft};
use crate::tool::{DEFAULT_SLOT, RESULT_SLOT, SkillText, TASK_SLOT, Tool, ToolName};

/// The prompt of a comparison: tasks and calls of the attempts, without tools. Calls of tools that an attempt did not
/// have are left out, because they had no effect.
pub(super) fn compared(attempts: &[&Trace]) -> Script {
    let mut script = Script::default().control("<s>", false);
    for attempt in attempts {
        let tools = tools_shown(&attempt.trajectory);
        let had = |call: &ToolCall| {
            let name = called(call);
            tools.iter().any(|tool| Some(&tool.name) == name.as_ref())
        };
        let calls: Vec<(String, &str)> = (attempt.trajectory.steps.iter())
            .flat_map(|step| made(step).iter().zip(step.result.text.lines()))
            .filter(|(call, _)| had(call))
            .filter_map(|(call, reply)| Some((line(call, &tools, word)?, reply)))
            .collect();
        let calls = calls.iter().map(|(call, reply)| (call.as_str(), *reply));
        script = script.compared(&attempt.task.instruction, calls);
    }
    script
}

/// Reads an answer: a step list whose tools each of the attempts had and that obeys the rules; or `none`.
pub(super) fn read(task: &RoleTask, rules: &[Rule], text: &str) -> Result<RoleAnswer> {
    let text = match rules {
        [] => text,
        _ => conclusion(text),
    };
    if text.trim() == NOTHING {
        let why = match (task, rules) {
            (_, [_, ..]) => "the model finds no skill that keeps to the rules",
            (RoleTask::Refactor { .. }, _) => "the model finds that the attempts share no skill",
            _ => "the model finds no skill in the attempt",
        };
        return Ok(RoleAnswer::Nothing(why.to_owned()));
    }
    let Some(skill) = SkillText::parse(text) else {
        let message =
            "the answer is not `verb noun: step; step` with a last step that calls that tool";
        return Err(unusable(message, text));
    };
    for attempt in shown(task)?.0 {
        let tools = tools_shown(&attempt.trajectory);
        let fault = skill.steps.iter().find_map(|step| fault(step, &tools));
        if let Some(fault) = fault {
            return Err(unusable(fault, text));
        }
    }
    if let Some(rule) = rules.iter().find(|rule| !rule.allows(&skill)) {
        return Err(unusable(
            format!("the skill breaks the rule `{rule}`"),
            text,
        ));
    }
    if let RoleTask::Refine { skill: before, .. } = task
        && read_body(&before.body).as_ref() == Some(&skill)
    {
        let why = "the model leaves the skill as it is";
        return Ok(RoleAnswer::Nothing(why.to_owned()));
    }
    Ok(RoleAnswer::Draft(Box::new(to_draft(&skill))))
}

/// The fault of a step, for an agent with these tools.
pub(super) fn fault(step: &str, tools: &[Tool]) -> Option<&'static str> {
    let name = ToolName::parse(step);
    let Some(tool) = tools.iter().find(|tool| Some(&tool.name) == name.as_ref()) else {
        return Some("a step calls a tool that the attempt did not have");
    };
    let mut parameters = step.split_whitespace().skip(2).step_by(2);
    let known = |parameter: &str| tool.parameters.iter().any(|known| known == parameter);
    (!parameters.all(known)).then_some("a step sets a parameter that its tool does not have")
}

/// The skill of an attempt without a model: its accepted calls, with values from the task and from results replaced by
/// slots.
pub(super) fn abstracted(attempt: Option<&Trace>) -> SkillDraft {
    let skill = attempt.and_then(accepted);
    let title = || {
        let instruction = attempt.map(|attempt| attempt.task.instruction.as_str());
        let words = instruction.and_then(ToolName::parse);
        let words = words.filter(|name| name.to_string().len() <= SkillName::MAX);
        words.unwrap_or(ToolName::new("do", "task"))
    };
    to_draft(&skill.unwrap_or_else(|| SkillText {
        steps: vec![title().to_string()],
        title: title(),
    }))
}

fn accepted(attempt: &Trace) -> Option<SkillText> {
    let tools = tools_shown(&attempt.trajectory);
    let stated: Vec<&str> = attempt.task.instruction.split_whitespace().collect();
    let steps = attempt.trajectory.steps.iter();
    let mut results: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for step in steps.filter(|step| !step.result.is_error) {
        for call in made(step) {
            lines.push(line(call, &tools, |value| slot(value, &stated, &results))?);
        }
        results.extend(step.result.text.split_whitespace());
    }
    let title = ToolName::parse(lines.last()?)?;
    Some(SkillText {
        title,
        steps: lines,
    })
}

fn made(step: &Step) -> &[ToolCall] {
    match &step.action {
        Action::Call(calls) => calls,
        _ => &[],
    }
}

fn called(call: &ToolCall) -> Option<ToolName> {
    ToolName::parse(&call.tool.replacen('_', " ", 1))
}

/// A call as a command line, with `word` for each value; `None` where its name is not of the worlds' form.
fn line(call: &ToolCall, tools: &[Tool], word: impl Fn(&Value) -> String) -> Option<String> {
    let name = called(call)?;
    let set = call.arguments.iter();
    let set: Vec<(&str, String)> = set
        .map(|(parameter, value)| (parameter.as_str(), word(value)))
        .collect();
    let known = tools.iter().find(|tool| tool.name == name).cloned();
    let tool = known.unwrap_or_else(|| Tool {
        name,
        parameters: set.iter().map(|(name, _)| (*name).to_owned()).collect(),
    });
    let value_of = |parameter: &str| {
        let mut set = set.iter();
        set.find(|(name, _)| *name == parameter)
            .map(|(_, value)| value.as_str())
    };
    Some(tool.call(value_of))
}

fn slot(value: &Value, stated: &[&str], results: &[&str]) -> String {
    match word(value) {
        known if stated.contains(&known.as_str()) => TASK_SLOT.to_owned(),
        known if results.contains(&known.as_str()) => RESULT_SLOT.to_owned(),
        other => other,
    }
}

/// The first word of a value: values of the worlds have one.
fn word(value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let first = text.split_whitespace().next();
    first.unwrap_or(DEFAULT_SLOT).to_owned()
}
