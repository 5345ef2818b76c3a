//! Formats the steps of an attempt for the prompt of a role. A long attempt is compacted and not cut off: first the results of
//! its oldest steps are shortened, then its oldest steps lose their results, then steps behind the first ones are left out,
//! with a note. Numbers of steps stay as they are. What came back is a line behind its step: `=> ` for a result, `user: ` for words
//! of the dialogue's user, `event: ` for something that happened without the agent.

use std::ops::Range;

use crate::{
    domain::{Action, ObservationKind, Step, StepResult, Trace},
    text::{actions_in_brief, brief, clipped},
};

/// The least length that a tool's result may have in an attempt, in characters.
const LEAST_RESULT: usize = 80;
/// A tool's result may have this fraction of the length of its attempt, one in so many, or the least length if that is more.
const RESULT_PART: usize = 5;
/// The length of a step's action in a compacted attempt, in characters.
const ACTION_CHARS: usize = 160;
/// The number of first steps that are left out last.
const FIRST: usize = 3;

/// How much of a step is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Nothing,
    Action,
    Short,
    Whole,
}

/// These steps of an attempt, each with its number from 0 and its result, in about `most` characters. Further lines of a text
/// are indented, so that none can pass for a step.
pub(super) fn step_lines(trace: &Trace, range: Range<usize>, most: usize) -> String {
    let result_chars = (most / RESULT_PART).max(LEAST_RESULT);
    let beginning = beginning(trace, &range, result_chars);
    let all = trace.trajectory.steps.iter().enumerate();
    let steps: Vec<(usize, &Step)> = all.filter(|(number, _)| range.contains(number)).collect();
    let room = most.saturating_sub(beginning.chars().count());
    let details = fitted(&steps, room, result_chars);
    let mut text = beginning;
    let mut gap: Vec<(usize, &Step)> = Vec::new();
    for ((number, step), detail) in steps.iter().zip(details) {
        if detail == Detail::Nothing {
            gap.push((*number, step));
            continue;
        }
        text.push_str(&gap_line(&std::mem::take(&mut gap)));
        text.push_str(&line(*number, step, detail, result_chars));
    }
    text.push_str(&gap_line(&gap));
    match text.is_empty() {
        true => "no step was taken".to_owned(),
        // The newest step alone can be too long.
        false => clipped(&text, most),
    }
}

/// What was seen before the first step, where the task does not say it.
fn beginning(trace: &Trace, range: &Range<usize>, result_chars: usize) -> String {
    let first = trace.trajectory.steps.first();
    let seen = first.map_or("", |step| step.observation.text.trim());
    match range.start == 0 && !seen.is_empty() && seen != trace.task.instruction.trim() {
        true => format!(
            "seen at first: {}\n",
            indented(&clipped(seen, result_chars))
        ),
        false => String::new(),
    }
}

/// The greatest detail of each step with which all fit, the oldest losing theirs first.
fn fitted(steps: &[(usize, &Step)], room: usize, result_chars: usize) -> Vec<Detail> {
    let size = |place: usize, detail: Detail| {
        let step = steps.get(place);
        step.map_or(0, |(number, step)| {
            line(*number, step, detail, result_chars).chars().count()
        })
    };
    let mut details = vec![Detail::Whole; steps.len()];
    let mut total: usize = (0..steps.len())
        .map(|place| size(place, Detail::Whole))
        .sum();
    let older = 0..steps.len().saturating_sub(1);
    let behind_the_first = older.clone().skip(FIRST).chain(older.clone().take(FIRST));
    let cuts = (older.clone().map(|place| (place, Detail::Short)))
        .chain(older.map(|place| (place, Detail::Action)))
        .chain(behind_the_first.map(|place| (place, Detail::Nothing)));
    for (place, detail) in cuts {
        if total <= room {
            break;
        }
        if let Some(current) = details.get_mut(place)
            && detail < *current
        {
            total = (total + size(place, detail)).saturating_sub(size(place, *current));
            *current = detail;
        }
    }
    details
}

fn line(number: usize, step: &Step, detail: Detail, result_chars: usize) -> String {
    let mark = mark(&step.result);
    let result = step.result.text.as_str();
    match detail {
        Detail::Nothing => String::new(),
        Detail::Action => {
            let did = brief(&action(step), ACTION_CHARS);
            let failed = if step.result.is_error {
                "=> error\n"
            } else {
                ""
            };
            format!("{number}. {did}\n{failed}")
        }
        Detail::Short => {
            let (did, result) = (
                brief(&action(step), ACTION_CHARS),
                brief(result, LEAST_RESULT),
            );
            format!("{number}. {did}\n{mark}{result}\n")
        }
        Detail::Whole => {
            let did = indented(&did(step));
            let result = indented(&clipped(result, result_chars));
            format!("{number}. {did}\n{mark}{result}\n")
        }
    }
}

/// What stands before what came back. Whose words they are is not for the words to say.
fn mark(result: &StepResult) -> &'static str {
    match result.kind {
        ObservationKind::User => "user: ",
        ObservationKind::Event => "event: ",
        _ if result.is_error => "=> error: ",
        _ => "=> ",
    }
}

/// The note in place of steps that are left out.
fn gap_line(gap: &[(usize, &Step)]) -> String {
    let (Some((first, _)), Some((last, _))) = (gap.first(), gap.last()) else {
        return String::new();
    };
    let did = actions_in_brief(gap.iter().map(|(_, step)| *step));
    format!("[steps {first} to {last} left out: {did}]\n")
}

fn indented(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    lines.join("\n    ")
}

/// The action of a step, in the words of the agent's transcript where it has one.
fn did(step: &Step) -> String {
    match step.transcript.trim() {
        "" => action(step),
        transcript => transcript.to_owned(),
    }
}

/// The action of a step alone.
fn action(step: &Step) -> String {
    match &step.action {
        Action::Call(calls) => {
            let calls = calls.iter().map(|call| {
                let arguments = serde_json::Value::from(call.arguments.clone());
                format!("{} {arguments}", call.tool)
            });
            calls.collect::<Vec<_>>().join("; ")
        }
        Action::Message(text) => text.clone(),
        Action::EndTurn => "end the turn".to_owned(),
    }
}
