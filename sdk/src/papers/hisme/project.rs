//! From an attempt to its segments.

use serde_json::Value;

use crate::{
    domain::{
        Action, ObservationKind, SkillRef, SkillUse, Step, Taint, Task, ToolCall, Trajectory,
        Trust, Verdict,
    },
    id::SegmentId,
    papers::hisme::{Segment, SegmentArgument, SegmentCall, SegmentKind, ValueSource},
};

/// Greatest length of the request, in characters.
const FRAGMENT_CHARS: usize = 600;
/// Greatest number of calls of a turn; the first ones are kept.
const CALLS: usize = 24;
/// Greatest number of arguments of a call; the first ones by name are kept.
const ARGUMENTS: usize = 12;
/// Greatest length of a tool's or an argument's name, in characters.
const NAME_CHARS: usize = 64;
/// Greatest length of an argument's value, in characters.
const VALUE_CHARS: usize = 80;
/// Greatest number of refusals and of results of a turn; the first ones of each are kept.
const TEXTS: usize = 12;
/// Greatest length of a refusal and of a result, in characters.
const TEXT_CHARS: usize = 200;
/// The first characters of each text in which a value is searched.
const SEARCHED_CHARS: usize = 4_000;
/// Number of requests and of results in which a value is searched: the instruction and the latest ones.
const SEARCHED_TEXTS: usize = 32;

/// The segments of an attempt: one for each turn of the task, that is for each run of steps with the same `turn`.
///
/// The request of a segment is the task's instruction in the first turn, and the first observation in a later one. Texts and
/// lists are truncated: the request at 600 characters, a refusal or result at 200, a turn at 12 of each, names at 64
/// characters, values at 80, a turn at 24 calls and a call at 12 arguments.
///
/// A segment is tainted if its turn or an earlier one has text of an untrusted source, since the agent may repeat any text
/// that it has read; all are, if a skill in quarantine was in a prompt. Every segment has the verdict of the whole attempt; without a verdict its success is unknown.
pub fn project(task: &Task, trajectory: &Trajectory, verdict: Option<&Verdict>) -> Vec<Segment> {
    let mut seen = Seen::default();
    seen.request(&task.instruction);
    let mut taint = match trajectory.injection.has_quarantined() {
        true => Taint::Tainted,
        false => Taint::Clean,
    };
    let mut segments = Vec::new();
    for steps in trajectory.steps.chunk_by(|a, b| a.turn == b.turn) {
        let [first, ..] = steps else { continue };
        let last = steps.last().unwrap_or(first);
        seen.request(&first.observation.text);
        if steps.iter().any(is_untrusted) {
            taint = Taint::Tainted;
        }
        let asked = if segments.is_empty() {
            &task.instruction
        } else {
            &first.observation.text
        };
        let mut segment = Segment {
            id: SegmentId::new(format!("{}#{}", trajectory.attempt, first.index)),
            kind: SegmentKind::Trace {
                attempt: trajectory.attempt.clone(),
                turn: first.turn,
            },
            tasks: vec![task.id.clone()],
            fragment: clipped(asked, FRAGMENT_CHARS),
            calls: Vec::new(),
            errors: Vec::new(),
            changes: Vec::new(),
            success: verdict.and_then(|verdict| verdict.success()),
            skills: skills_until(trajectory, last.index),
            taint,
            embedding: None,
        };
        for step in steps {
            add(&mut segment, step, &mut seen);
        }
        segments.push(segment);
    }
    segments
}

/// The versions that were in the prompt up to this step, but for those that the agent passed over.
fn skills_until(trajectory: &Trajectory, step: u32) -> Vec<SkillRef> {
    let exposures = trajectory.exposures.iter();
    let exposures = exposures.filter(|seen| seen.since <= step);
    let kept = exposures.filter(|seen| seen.used != SkillUse::NotFollowed);
    kept.map(|seen| seen.skill.clone()).collect()
}

fn is_untrusted(step: &Step) -> bool {
    step.observation.source.trust != Trust::Trusted || step.result.source.trust != Trust::Trusted
}

fn add(segment: &mut Segment, step: &Step, seen: &mut Seen) {
    let refused = step.result.is_error;
    let mut tool = None;
    if let Action::Call(calls) = &step.action {
        let room = CALLS.saturating_sub(segment.calls.len());
        let calls_of = |call: &ToolCall| seen.call(call, refused);
        segment.calls.extend(calls.iter().take(room).map(calls_of));
        tool = calls.last().map(|call| call.tool.as_str());
    }
    let text = clipped(&step.result.text, TEXT_CHARS);
    let texts = if refused {
        &mut segment.errors
    } else {
        &mut segment.changes
    };
    let is_new = !refused || !texts.contains(&text);
    if !text.is_empty() && is_new && texts.len() < TEXTS {
        texts.push(text);
    }
    match tool {
        _ if step.result.kind == ObservationKind::User => seen.request(&step.result.text),
        // A refusal states a rule of the world and is no result of a call.
        Some(tool) if !refused => seen.result(tool, &step.result.text),
        Some(_) => {}
        None => seen.request(&step.result.text),
    }
}

/// The requests and results so far, in which the source of a value is searched.
#[derive(Default)]
struct Seen {
    /// The instruction first.
    requests: Vec<String>,
    /// Tool and text, the latest last.
    results: Vec<(String, String)>,
}

impl Seen {
    fn request(&mut self, text: &str) {
        if self.requests.len() == SEARCHED_TEXTS {
            self.requests.remove(1);
        }
        self.requests.push(searched(text));
    }

    fn result(&mut self, tool: &str, text: &str) {
        if self.results.len() == SEARCHED_TEXTS {
            self.results.remove(0);
        }
        let tool = clipped(tool, NAME_CHARS);
        self.results.push((tool, searched(text)));
    }

    fn call(&self, call: &ToolCall, refused: bool) -> SegmentCall {
        let arguments = call.arguments.iter();
        let mut arguments: Vec<SegmentArgument> = arguments
            .map(|(name, value)| self.argument(name, value))
            .collect();
        arguments.sort_by(|a, b| a.name.cmp(&b.name));
        arguments.truncate(ARGUMENTS);
        SegmentCall {
            tool: clipped(&call.tool, NAME_CHARS),
            arguments,
            refused,
        }
    }

    fn argument(&self, name: &str, value: &Value) -> SegmentArgument {
        let value = match value {
            Value::String(text) => clipped(text, VALUE_CHARS),
            other => clipped(&other.to_string(), VALUE_CHARS),
        };
        SegmentArgument {
            name: clipped(name, NAME_CHARS),
            source: self.source(&value.to_lowercase()),
            value,
        }
    }

    fn source(&self, value: &str) -> ValueSource {
        if self.requests.iter().any(|text| contains(text, value)) {
            return ValueSource::Request;
        }
        let mut results = self.results.iter().rev();
        match results.find(|(_, text)| contains(text, value)) {
            Some((tool, _)) => ValueSource::Result { tool: tool.clone() },
            None => ValueSource::Agent,
        }
    }
}

fn searched(text: &str) -> String {
    clipped(text, SEARCHED_CHARS).to_lowercase()
}

/// Whether a text contains a value at word boundaries.
fn contains(text: &str, value: &str) -> bool {
    let splits_word = |inside: Option<char>, outside: Option<char>| {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        is_word(inside) && is_word(outside)
    };
    let is_whole = |at: usize| {
        let (before, after) = (&text[..at], &text[at + value.len()..]);
        let begins = !splits_word(value.chars().next(), before.chars().next_back());
        begins && !splits_word(value.chars().next_back(), after.chars().next())
    };
    !value.is_empty() && text.match_indices(value).any(|(at, _)| is_whole(at))
}

fn clipped(text: &str, chars: usize) -> String {
    text.trim().chars().take(chars).collect()
}

#[cfg(test)]
mod tests;
