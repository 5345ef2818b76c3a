//! Tells the story at the end.

use std::io::{self, Write};

use journeyman::{
    domain::{Action, ScoreKind, Scored, Selection, Skill, SkillRef, Step, ToolCall, Trace},
    library::SkillLibrary,
};
use journeyman_toolworld::{
    stream::Member,
    tool::{Demand, ToolName, wire_name},
};
use quickstart::Tasks;

use crate::{
    screen::{Screen, Tone},
    show::{is_kept_calls, one_line, title},
    story::{Better, Refused, Ungated, calls, has_refused_call, made, refused},
};

/// Greatest length of a line of an attempt, in characters: two stand beside each other in a terminal of 80.
const LINE_CHARS: usize = 36;

/// What the story's parts refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) tasks: &'a Tasks,
    pub(crate) library: &'a SkillLibrary,
}

/// A line of an attempt.
struct Line {
    text: String,
    tone: Tone,
}

impl Line {
    /// A text on as many lines as it needs: the first begins with `start`, those behind it with as many blanks.
    fn wrapped(start: &str, text: &str, tone: Tone) -> Vec<Self> {
        let blanks = start.chars().count();
        let room = LINE_CHARS - blanks;
        let mut lines: Vec<String> = Vec::new();
        let text = one_line(text);
        for word in text.split(' ') {
            let letters: Vec<char> = word.chars().collect();
            for part in letters.chunks(room) {
                match lines.last_mut() {
                    Some(line) if line.chars().count() + 1 + part.len() <= room => {
                        line.push(' ');
                        line.extend(part);
                    }
                    _ => lines.push(part.iter().collect()),
                }
            }
        }
        let starts = std::iter::once(start.to_owned()).chain(std::iter::repeat(" ".repeat(blanks)));
        let lines = starts.zip(lines);
        lines
            .map(|(start, line)| Self {
                text: format!("{start}{line}"),
                tone,
            })
            .collect()
    }
}

/// One task before and after, the skill that it was given, and the gate's grounds.
pub(crate) fn better(out: &mut Screen, better: &Better<'_>, known: Known<'_>) -> io::Result<()> {
    title(out, "one task, before and after")?;
    let Better {
        before,
        after,
        selection,
    } = *better;
    task(out, after, known)?;
    let skill = selection.skill();
    let name = skill.map_or_else(|| "no skill".to_owned(), |skill| name(skill, known));
    writeln!(out)?;
    let now = format!("after: with the skill {name}");
    beside(
        out,
        ("before: without a skill", before),
        (now.as_str(), after),
    )?;
    let Some(found) = skill.and_then(|skill| known.library.version(skill)) else {
        return Ok(());
    };
    let whose = match is_kept_calls(found) {
        true => "the calls of an attempt as they were kept",
        false => "as the model wrote it",
    };
    writeln!(out, "\n  The skill {name}, {whose}:")?;
    body(out, found)?;
    let Some(given) = better.given() else {
        return Ok(());
    };
    let needed = selection.fitted.as_ref().map(|fitted| fitted.threshold);
    let needed = needed.map_or_else(String::new, needed_value);
    let score = grounds(selection, given.value);
    writeln!(out, "  Why it was given: {score}{needed}.")?;
    let mut others = selection.candidates.iter();
    match others.find(|one| one.skill != given.skill) {
        Some(next) => writeln!(
            out,
            "  The next best of {} candidates was {}: {}.",
            selection.candidates.len(),
            candidate(next, known),
            grounds(selection, next.value)
        ),
        None => Ok(()),
    }
}

/// A skill that the gate refused, and the reason.
pub(crate) fn refusal(out: &mut Screen, one: &Refused<'_>, known: Known<'_>) -> io::Result<()> {
    title(out, "a skill that the gate refused")?;
    let Refused {
        task,
        selection,
        best,
        threshold,
    } = *one;
    let held_out = known.tasks.held_out.iter().find(|one| one.id == task.task);
    if let Some(held_out) = held_out {
        writeln!(out, "  the task   {}", one_line(&held_out.instruction))?;
    }
    writeln!(
        out,
        "  refused    {}: {}{}",
        candidate(best, known),
        grounds(selection, best.value),
        needed_value(threshold)
    )?;
    match known.library.version(&best.skill) {
        Some(skill) => {
            writeln!(out, "  It says:")?;
            body(out, skill)
        }
        None => Ok(()),
    }
}

/// What the refused skills did where they were given, at some of the tasks at which the gate refused one.
pub(crate) fn ungated(
    out: &mut Screen,
    (all, refusals): (&[Ungated<'_>], usize),
    known: Known<'_>,
) -> io::Result<()> {
    title(out, "without the gate")?;
    let worse = all.iter().filter(|one| one.is_worse());
    let better = all.iter().filter(|one| one.is_better());
    writeln!(
        out,
        "  Tasks where it refused a skill: {refusals}. Attempted with that skill, from the highest score down: {}; {} worse, {} better, the rest alike.",
        all.len(),
        worse.count(),
        better.count()
    )?;
    let Some(shown) = all.iter().find(|one| one.is_worse()) else {
        return Ok(());
    };
    task(out, shown.without, known)?;
    let given = shown.without.trajectory.injection.skills.first();
    let given = given.map_or_else(String::new, |skill| name(&skill.skill, known));
    writeln!(out)?;
    let without = format!("without it: {given}");
    beside(
        out,
        ("with the gate: no skill", shown.with_gate),
        (without.as_str(), shown.without),
    )
}

/// The text of a task, and what it does not tell.
fn task(out: &mut Screen, attempt: &Trace, known: Known<'_>) -> io::Result<()> {
    writeln!(out, "  the task   {}", one_line(&attempt.task.instruction))?;
    let tool = known.tasks.tools.get(&attempt.task.id);
    let is_tool = |member: &&Member| Some(&member.service.tool.name.to_string()) == tool;
    let member = known.tasks.members.iter().find(is_tool);
    match member.map(demands) {
        Some(demands) if !demands.is_empty() => writeln!(out, "  not told   {demands}"),
        _ => Ok(()),
    }
}

/// The hidden demands of a service in words.
fn demands(member: &Member) -> String {
    let the = |name: &ToolName| format!("{} the {}", name.verb, name.noun);
    let target = the(&member.service.tool.name);
    let words = member.service.contract.iter().map(|demand| match demand {
        Demand::Before(check) => format!("{target} only after you {}", the(check)),
        Demand::Exact(setting) => {
            format!("the {} has to be {}", setting.parameter, setting.value)
        }
        Demand::Carried { parameter, source } => {
            format!(
                "the {parameter} is the one that {} gives",
                wire_name(source)
            )
        }
    });
    words.collect::<Vec<_>>().join("; ")
}

/// Two attempts beside each other.
fn beside(
    out: &mut Screen,
    (left_title, left): (&str, &Trace),
    (right_title, right): (&str, &Trace),
) -> io::Result<()> {
    let column = |title: &str, attempt: &Trace| {
        let mut column = Line::wrapped("", title, Tone::Heading);
        column.extend(lines(attempt));
        column
    };
    let (left, right) = (column(left_title, left), column(right_title, right));
    let lengths = left.iter().map(|line| line.text.chars().count());
    let width = lengths.max().unwrap_or_default();
    for row in 0..left.len().max(right.len()) {
        let of = |column: &[Line]| match column.get(row) {
            Some(line) => (
                out.painted(&line.text, line.tone),
                line.text.chars().count(),
            ),
            None => (String::new(), 0),
        };
        let ((left, length), (right, _)) = (of(&left), of(&right));
        let gap = " ".repeat(width - length + 3);
        let text = format!("  {left}{gap}{right}");
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// The calls of an attempt and the answers, then what it came to.
fn lines(attempt: &Trace) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, step) in (1_usize..).zip(&attempt.trajectory.steps) {
        let did: Vec<String> = match &step.action {
            Action::Call(_) => made(step).iter().map(said).collect(),
            Action::Message(text) => vec![format!("says: {text}")],
            _ => vec!["ends its turn".to_owned()],
        };
        let start = format!("{number}. ");
        let did = did.iter();
        lines.extend(did.flat_map(|text| Line::wrapped(&start, text, Tone::Plain)));
        lines.extend(answers(step));
    }
    let (calls, refused) = (calls(attempt), refused(attempt));
    let refused = match refused {
        0 => "none refused".to_owned(),
        count => format!("{count} refused"),
    };
    let (done, tone) = match attempt.is_success() {
        true => ("done", Tone::Good),
        false => ("not done", Tone::Bad),
    };
    let calls = match calls {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    };
    lines.extend(Line::wrapped(
        "",
        &format!("{calls}, {refused}, {done}"),
        tone,
    ));
    lines
}

/// The answers of the world to a step, of which it can have refused the last alone.
fn answers(step: &Step) -> Vec<Line> {
    let texts: Vec<&str> = step.result.text.lines().collect();
    let mut lines = Vec::new();
    for (left, text) in (0..texts.len()).rev().zip(&texts) {
        let is_error = step.result.is_error && left == 0;
        let tone = if is_error { Tone::Bad } else { Tone::Faint };
        let text = match is_error && has_refused_call(step) {
            true => format!("refused: {text}"),
            false => (*text).to_owned(),
        };
        lines.extend(Line::wrapped("   ", &text, tone));
    }
    lines
}

/// A call as `cancel_ferry limit=42 zone=north`.
fn said(call: &ToolCall) -> String {
    let mut text = call.tool.clone();
    for (name, value) in &call.arguments {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        text.push_str(&format!(" {name}={value}"));
    }
    text
}

/// The text of a skill, indented.
fn body(out: &mut Screen, skill: &Skill) -> io::Result<()> {
    writeln!(out, "    {}", one_line(&skill.description))?;
    let lines = skill.body.lines().map(one_line);
    let lines = lines.filter(|line| !line.is_empty() && *line != one_line(&skill.description));
    for line in lines {
        let line = out.painted(&line, Tone::Faint);
        writeln!(out, "    {line}")?;
    }
    Ok(())
}

/// A score of a selection in words.
fn grounds(selection: &Selection, value: f64) -> String {
    let fitted = selection.fitted.as_ref();
    if fitted.is_some_and(|fitted| fitted.found.is_some()) {
        return format!("its score, of model and search together, is {value:.1}");
    }
    let text = match selection.score {
        Some(ScoreKind::Pmi) => "its text is",
        Some(ScoreKind::CardPmi) => "its name and description are",
        Some(other) => return format!("its score ({}) is {value:.1}", other.name()),
        None => return format!("its score is {value:.1}"),
    };
    let (amount, how) = (value.abs(), if value < 0.0 { "less" } else { "more" });
    format!("{text} {amount:.1} nats {how} likely with this task than without")
}

/// What a score had to exceed, in words behind it.
fn needed_value(threshold: f64) -> String {
    format!("; more than {threshold:.1} was needed")
}

fn candidate(scored: &Scored, known: Known<'_>) -> String {
    name(&scored.skill, known)
}

fn name(skill: &SkillRef, known: Known<'_>) -> String {
    match known.library.version(skill) {
        Some(found) => found.name.to_string(),
        None => skill.id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use journeyman::{
        Seed,
        domain::{Source, StepResult, Task, Trajectory},
    };
    use serde_json::json;

    use super::*;

    #[test]
    fn of_a_step_of_two_calls_the_last_alone_is_refused() {
        let verify = ToolCall::new("verify_ticket", json!({}));
        let close = ToolCall::new("close_ticket", json!({"zone": "north"}));
        let refused = |text: &str| StepResult::refused(text, Source::trusted("desk"));
        let mut trajectory = Trajectory::new("run/0/0".into(), "a".into(), Seed(7));
        let calls = vec![verify.clone(), close, verify];
        trajectory.push(Step::new(Action::Call(calls), refused("ok\nnot yet")));
        // A message is no call, and neither is a step that holds none.
        let message = Action::Message("please".to_owned());
        trajectory.push(Step::new(message, refused("no tool")));
        trajectory.push(Step::new(Action::Call(Vec::new()), refused("no tool")));
        let attempt = Trace::new(Task::new("a", "Close it."), trajectory, None, Seed(7));
        let lines = lines(&attempt);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let expect = [
            "1. verify_ticket",
            "1. close_ticket zone=north",
            "   ok",
            "   refused: not yet",
            "2. says: please",
            "   no tool",
            "   no tool",
            "2 calls, 1 refused, not done",
        ];
        assert_eq!(texts, expect);
        assert_eq!(lines[2].tone, Tone::Faint);
        assert_eq!(lines[3].tone, Tone::Bad);
    }

    #[test]
    fn a_long_text_goes_on_below_its_start() {
        let word = "x".repeat(40);
        let text = format!("cancel_ferry limit=42 zone=north {word}");
        let lines = Line::wrapped("1. ", &text, Tone::Plain);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let long = format!("   {}", "x".repeat(33));
        let expect = [
            "1. cancel_ferry limit=42 zone=north",
            long.as_str(),
            "   xxxxxxx",
        ];
        assert_eq!(texts, expect);
        assert!(Line::wrapped("", "", Tone::Plain).is_empty());
    }
}
