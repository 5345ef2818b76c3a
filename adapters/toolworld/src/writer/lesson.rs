//! Lessons: the attempt that the bundled model is shown, and the parser of its answer.

use journeyman::Result;
use journeyman::contract::RoleAnswer;
use journeyman::domain::{Lesson, Trace};

use super::shown::{absent, tools_shown};
use super::unusable::unusable;
use super::writing::fault;
use crate::tool::{Tool, ToolName};

/// The attempt up to and including its last refusal: the model was trained on attempts that end there. An attempt that was
/// done after a refusal is cut off, too.
pub(super) fn up_to_refusal(attempt: &Trace) -> Result<Trace> {
    let steps = &attempt.trajectory.steps;
    let Some(last) = steps.iter().rposition(|step| step.result.is_error) else {
        return Err(absent(
            "no call of the attempt was refused, so the model finds no lesson in it",
        ));
    };
    let mut cut = attempt.clone();
    cut.trajectory.steps.truncate(last + 1);
    Ok(cut)
}

/// Reads `NUMBER: CALL; CALL; SENTENCE`: the refused step and its call, what should have been called, and the principle, all
/// about tools that the attempt had.
pub(super) fn read(attempt: &Trace, text: &str) -> Result<RoleAnswer> {
    let tools = tools_shown(&attempt.trajectory);
    let parts = text.trim().split_once(": ").and_then(|(number, rest)| {
        let parts: Vec<&str> = rest.split(';').map(str::trim).collect();
        let [flawed, should, principle] = parts.as_slice() else {
            return None;
        };
        let step = number.parse::<usize>().ok()?.checked_sub(1)?;
        Some((step, *flawed, *should, *principle))
    });
    let Some((step, flawed, should, principle)) = parts else {
        return Err(unusable(
            "the answer is not `number: call; call; sentence`",
            text,
        ));
    };
    let refused = attempt.trajectory.steps.get(step);
    if refused.is_none_or(|step| !step.result.is_error) {
        return Err(unusable("the step was not refused", text));
    }
    if let Some(fault) = fault(flawed, &tools).or(fault(should, &tools)) {
        return Err(unusable(fault, text));
    }
    if !is_demand(principle, &tools) {
        return Err(unusable(
            "the principle is not `tool needs ...` of the attempt's tools",
            text,
        ));
    }
    Ok(RoleAnswer::Lesson(Lesson {
        step,
        flawed: flawed.to_owned(),
        should: should.to_owned(),
        principle: principle.to_owned(),
    }))
}

/// Whether a sentence says what a known tool needs: a known tool, a value of one of its parameters, or where that comes from.
fn is_demand(sentence: &str, tools: &[Tool]) -> bool {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let known = |verb: &str, noun: &str| {
        let name = ToolName::new(verb, noun);
        tools.iter().find(|tool| tool.name == name)
    };
    let [verb, noun, "needs", demand @ ..] = words.as_slice() else {
        return false;
    };
    let Some(tool) = known(verb, noun) else {
        return false;
    };
    let has = |name: &str| tool.parameters.iter().any(|parameter| parameter == name);
    match demand {
        [parameter, "from", verb, noun] => has(parameter) && known(verb, noun).is_some(),
        [one, other] => has(one) || known(one, other).is_some(),
        _ => false,
    }
}
