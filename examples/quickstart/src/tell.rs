//! Tells the story at the end.

use std::io::{self, Write};

use journeyman::{
    domain::{Action, ScoreKind, Scored, Skill, SkillRef, ToolCall, Trace},
    library::SkillLibrary,
};
use journeyman_toolworld::{
    stream::Member,
    tool::{Demand, ToolName, wire_name},
};
use quickstart::Tasks;

use crate::{
    screen::{Screen, Tone},
    show::{one_line, title},
    story::{Better, Refused, Ungated, calls, refused},
};

/// Greatest length of a line of an attempt, in characters.
const LINE_CHARS: usize = 64;

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
    fn new(text: &str, tone: Tone) -> Self {
        let text = one_line(text);
        let text = match text.chars().count() > LINE_CHARS {
            true => text
                .chars()
                .take(LINE_CHARS - 1)
                .chain(['…'])
                .collect::<String>(),
            false => text,
        };
        Self { text, tone }
    }

    fn indented(text: &str, tone: Tone) -> Self {
        let mut line = Self::new(text, tone);
        line.text.insert_str(0, "   ");
        line
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
    writeln!(out, "\n  The skill {name}, as the model wrote it:")?;
    body(out, found)?;
    let (Some(best), Some(score)) = (selection.best(), selection.score) else {
        return Ok(());
    };
    writeln!(out, "  Why it was given: {}.", likelier(score, best.value))?;
    match selection.candidates.get(1) {
        Some(next) => writeln!(
            out,
            "  The next best of {} candidates was {}: {}.",
            selection.candidates.len(),
            candidate(next, known),
            likelier(score, next.value)
        ),
        None => Ok(()),
    }
}

/// A skill that the gate refused, and the reason.
pub(crate) fn refusal(out: &mut Screen, one: &Refused<'_>, known: Known<'_>) -> io::Result<()> {
    title(out, "a skill that the gate refused")?;
    let Refused {
        task,
        best,
        score,
        threshold,
    } = *one;
    let held_out = known.tasks.held_out.iter().find(|one| one.id == task.task);
    if let Some(held_out) = held_out {
        writeln!(out, "  the task   {}", one_line(&held_out.instruction))?;
    }
    writeln!(
        out,
        "  refused    {}: {}; it had to be more than {threshold:.1}",
        candidate(best, known),
        likelier(score, best.value)
    )?;
    match known.library.version(&best.skill) {
        Some(skill) => {
            writeln!(out, "  It says:")?;
            body(out, skill)
        }
        None => Ok(()),
    }
}

/// What the refused skills would have done.
pub(crate) fn ungated(out: &mut Screen, all: &[Ungated<'_>], known: Known<'_>) -> io::Result<()> {
    title(out, "what a wrong skill would have done")?;
    let worse: Vec<&Ungated<'_>> = all.iter().filter(|one| one.is_worse()).collect();
    let count = all.len();
    writeln!(
        out,
        "  Of {count} tasks at which the gate had refused a skill, {} went worse when it was given without the gate.",
        worse.len()
    )?;
    let Some(shown) = worse.first().copied().or_else(|| all.first()) else {
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
        let mut column = vec![Line::new(title, Tone::Heading)];
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
    for (number, step) in (1..).zip(&attempt.trajectory.steps) {
        match &step.action {
            Action::Call(calls) => lines.extend(
                calls
                    .iter()
                    .map(|call| Line::new(&format!("{number}. {}", said(call)), Tone::Plain)),
            ),
            Action::Message(text) => {
                lines.push(Line::new(&format!("{number}. says: {text}"), Tone::Plain));
            }
            _ => lines.push(Line::new(&format!("{number}. ends its turn"), Tone::Plain)),
        }
        let (mark, tone) = match step.result.is_error {
            true => ("refused: ", Tone::Bad),
            false => ("", Tone::Faint),
        };
        let answers = step.result.text.lines();
        lines.extend(answers.map(|line| Line::indented(&format!("{mark}{line}"), tone)));
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
    lines.push(Line::new(&format!("{calls}, {refused}, {done}"), tone));
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

/// A score in words.
fn likelier(score: ScoreKind, value: f64) -> String {
    let text = match score {
        ScoreKind::Pmi => "its text",
        ScoreKind::CardPmi => "its name and description",
        other => return format!("its score ({}) is {value:.1}", other.name()),
    };
    let (amount, how) = (value.abs(), if value < 0.0 { "less" } else { "more" });
    format!("{text} is {amount:.1} nats {how} likely with this task than without")
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
