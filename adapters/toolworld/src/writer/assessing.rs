//! Roles that assess attempts: the prompts of distillation and of scores, and the answers of these and of segmentation.

use journeyman::Result;
use journeyman::contract::{RoleAnswer, SubgoalInAttempt};
use journeyman::domain::{Rubric, Segmentation, Subgoal, SubgoalScore, Trace, Trap};

use super::shown::{absent, tools_shown};
use super::unusable::unusable;
use super::writing::{called, compared, line, made, word};
use crate::script::Script;
use crate::tool::{SkillText, TASK_SLOT, ToolName};

/// The names of an attempt's subgoals, each with what it accomplishes.
const SUBGOALS: [(&str, &str); 5] = [
    ("probe", "find out what the service wants"),
    ("prepare", "make the call that has to come first"),
    ("collect", "get a value for a later call"),
    ("stray", "a call that brings nothing"),
    ("finish", "do the task"),
];

/// The attempts of a cluster's members, each once, at most three.
const COMPARED: usize = 3;

/// Reads how an attempt is cut. A subgoal is named by its purpose, and its skill is the tool of its last call. Spans that
/// leave steps out or overlap are repaired.
pub(super) fn segments(attempt: &Trace, text: &str) -> Result<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    let spans: Option<Vec<(&str, usize, usize)>> = text
        .trim()
        .split("; ")
        .map(|span| read_span(span))
        .collect();
    let Some(spans) = spans else {
        let message =
            "the answer does not cut the attempt into probe, prepare, collect, stray and finish";
        return Err(unusable(message, text));
    };
    let subgoals: Vec<Subgoal> = spans
        .into_iter()
        .map(|(purpose, first, last)| Subgoal {
            subgoal: purpose.to_owned(),
            skill: tool_at(attempt, last).unwrap_or_default(),
            first,
            last,
        })
        .collect();
    let (segmentation, repaired) = match Segmentation::new(subgoals.clone(), steps) {
        Ok(segmentation) => (segmentation, false),
        Err(_) => {
            let mut repaired: Vec<Subgoal> = Segmentation::repaired(subgoals, steps)
                .map_err(|error| unusable(error.message().to_owned(), text))?
                .into();
            for subgoal in &mut repaired {
                subgoal.skill = tool_at(attempt, subgoal.last).unwrap_or_default();
            }
            (Segmentation::new(repaired, steps)?, true)
        }
    };
    Ok(RoleAnswer::Segments {
        segmentation,
        repaired,
    })
}

/// `probe 1 2`, with steps from 1; here from 0.
fn read_span(span: &str) -> Option<(&'static str, usize, usize)> {
    let mut words = span.split_whitespace();
    let name = words.next()?;
    let purpose = purpose(name)?;
    let first: usize = words.next()?.parse().ok()?;
    let last: usize = words.next()?.parse().ok()?;
    let ends = words.next().is_none();
    ends.then_some((purpose, first.checked_sub(1)?, last.checked_sub(1)?))
}

/// The purpose of this name.
pub(super) fn purpose(name: &str) -> Option<&'static str> {
    let (purpose, _) = SUBGOALS.iter().find(|(known, _)| *known == name)?;
    Some(purpose)
}

/// The tool that is called in a step.
pub(super) fn tool_at(attempt: &Trace, step: usize) -> Option<String> {
    let calls = made(attempt.trajectory.steps.get(step)?);
    called(calls.last()?).map(|name| name.to_string())
}

/// The attempts that a cluster is compared by: those of the first members, each once.
fn attempts(members: &[SubgoalInAttempt]) -> Vec<&Trace> {
    let mut attempts: Vec<&Trace> = Vec::new();
    for member in members {
        let id = &member.attempt.trajectory.attempt;
        if attempts.len() < COMPARED && !attempts.iter().any(|one| one.trajectory.attempt == *id) {
            attempts.push(&member.attempt);
        }
    }
    attempts
}

/// The prompt of a distillation: a comparison of the members' attempts.
///
/// # Errors
/// `Invalid` for fewer than two attempts.
pub(super) fn distillation(members: &[SubgoalInAttempt]) -> Result<Script> {
    let attempts = attempts(members);
    match attempts.len() < 2 {
        true => Err(absent("there are fewer than two attempts to compare")),
        // What was refused is no part of how it is done.
        false => Ok(compared(&attempts, false)),
    }
}

/// Reads what the members' attempts share, up to the call that the cluster is about, as a rubric.
pub(super) fn rubric(members: &[SubgoalInAttempt], text: &str) -> Result<RoleAnswer> {
    let Some(nearest) = members.first() else {
        return Err(absent("there is no subgoal to distil from"));
    };
    let skill = SkillText::parse(text).and_then(|skill| up_to(skill, &nearest.subgoal.skill));
    let Some(skill) = skill else {
        let message = format!(
            "the answer is no step list with a call of `{}`",
            nearest.subgoal.skill
        );
        return Err(unusable(message, text));
    };
    let purposes = SUBGOALS.iter().filter(|(name, _)| {
        let mut named = members.iter().map(|member| &member.subgoal.subgoal);
        named.any(|subgoal| subgoal == name)
    });
    let score = |score| SubgoalScore::new(score);
    Ok(RoleAnswer::Rubric(Box::new(Rubric {
        title: skill.title.to_string(),
        use_context: format!("a task that needs a call of `{}`", skill.title),
        objectives: purposes
            .map(|(_, objective)| (*objective).to_owned())
            .collect(),
        checklist: checklist(&skill),
        traps: vec![
            Trap {
                trap: format!("another tool than `{}` is called", skill.title),
                score: score(0)?,
            },
            Trap {
                trap: "two lines of the checklist are not met".to_owned(),
                score: score(1)?,
            },
            Trap {
                trap: "one line of the checklist is not met".to_owned(),
                score: score(2)?,
            },
        ],
        pattern: skill.to_string(),
    })))
}

/// The part of a skill that ends with the call of a tool.
fn up_to(skill: SkillText, tool: &str) -> Option<SkillText> {
    let title = ToolName::parse(tool)?;
    let calls = |step: &String| ToolName::parse(step).as_ref() == Some(&title);
    let last = skill.steps.iter().rposition(calls)?;
    let steps = skill.steps.into_iter().take(last + 1).collect();
    Some(SkillText { title, steps })
}

/// One line for each call that has to come first, and one for each parameter of the last call.
fn checklist(skill: &SkillText) -> Vec<String> {
    let Some((last, before)) = skill.steps.split_last() else {
        return Vec::new();
    };
    let mut lines: Vec<String> = before
        .iter()
        .map(|step| format!("`{step}` was called before"))
        .collect();
    lines.push(format!("`{}` is called", skill.title));
    let words: Vec<&str> = last.split_whitespace().skip(2).collect();
    for pair in words.chunks_exact(2) {
        if let [parameter, value] = pair {
            lines.push(match *value {
                TASK_SLOT => format!("`{parameter}` is what the task gives"),
                value => format!("`{parameter}` is `{value}`"),
            });
        }
    }
    lines
}

/// The prompt of a score: the task, the checklist where there is one, the accepted calls before, and the subgoal's last call
/// without its answer.
///
/// # Errors
/// `Invalid` where the subgoal's last step is no call.
pub(super) fn score(subgoal: &SubgoalInAttempt, rubric: Option<&Rubric>) -> Result<Script> {
    let attempt = &subgoal.attempt;
    let tools = tools_shown(&attempt.trajectory);
    let mut script = Script::task(&attempt.task.instruction);
    if let Some(rubric) = rubric {
        script = script.note(&rubric.pattern);
    }
    let steps = &attempt.trajectory.steps;
    let before = steps.iter().take(subgoal.subgoal.last);
    for step in before.filter(|step| !step.result.is_error) {
        for (call, reply) in made(step).iter().zip(step.result.text.lines()) {
            if let Some(call) = line(call, &tools, word) {
                script = script.call(&call, false).reply(reply);
            }
        }
    }
    let last = steps
        .get(subgoal.subgoal.last)
        .and_then(|step| made(step).last());
    let Some(call) = last.and_then(|call| line(call, &tools, word)) else {
        return Err(absent("the subgoal does not end with a call"));
    };
    Ok(script.control("<call>", false).text(&call, false))
}

/// Reads a score: the state of each item, then a number; or `other 0`.
pub(super) fn scored(text: &str) -> Result<RoleAnswer> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let score = words.last().and_then(|last| last.parse().ok());
    let items = words.len().saturating_sub(1);
    let is_item = |pair: &[&str]| matches!(pair, [_, "good" | "bad"]);
    let sound = words.first() == Some(&"other") && items == 1
        || items.is_multiple_of(2)
            && words
                .get(..items)
                .is_some_and(|all| all.chunks(2).all(is_item));
    match score.map(SubgoalScore::new) {
        Some(Ok(score)) if sound => Ok(RoleAnswer::Scored {
            score,
            reason: words[..items].join(" "),
        }),
        _ => Err(unusable(
            "the answer is not the state of each item and a number from 0 to 3",
            text,
        )),
    }
}
