//! Wordings: how a text says a procedure. The wordings of development seeds and those of the figures have nothing in common
//! but the procedures.

use journeyman::domain::SkillDraft;
use journeyman_toolworld::tool::{ToolName, wire_name};

use super::procedure::{Procedure, Step, Value};

/// How names are marked.
#[derive(Clone, Copy, Debug)]
enum Mark {
    Bare,
    Ticks,
    Quotes,
    /// The name in words: *unseal the coffee*.
    Words,
}

/// How the values of parameters are said.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// Behind the call: *with power set to 65*.
    With,
    /// Behind the call: *(power: 65)*.
    Colon,
    /// In sentences of their own: *The power has to be 65.*
    Sentences,
}

/// The form of the body.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// Each step on a line, behind this marker; `%` stands for its number.
    Lines(&'static str),
    /// A sentence for each step, with these words before the first, the next and the last one.
    Prose(&'static str, &'static str, &'static str),
    /// A sentence: the words before the last call, those between it and the calls before it, and those behind.
    LastFirst(&'static str, &'static str, &'static str),
    /// The other way round.
    LastBehind(&'static str, &'static str, &'static str),
    /// A block of code.
    Block,
    /// Calls as code within a sentence.
    Inline,
}

/// A wording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wording {
    title: &'static str,
    description: &'static str,
    layout: Layout,
    verb: &'static str,
    mark: Mark,
    values: Values,
}

const fn wording(
    (title, description): (&'static str, &'static str),
    (layout, verb): (Layout, &'static str),
    (mark, values): (Mark, Values),
) -> Wording {
    Wording {
        title,
        description,
        layout,
        verb,
        mark,
        values,
    }
}

use Layout::{Block, Inline, LastBehind, LastFirst, Lines, Prose};
use Mark::{Bare, Quotes, Ticks, Words};
use Values::{Colon, Sentences, With};

/// In titles and descriptions `V` is the verb, `N` the noun and `T` the tool's name.
pub(super) const DEVELOPMENT: [Wording; 10] = [
    wording(
        (
            "V-N",
            "The calls that V the N. Use when a task asks to V the N.",
        ),
        (Lines("%. "), "Call "),
        (Ticks, With),
    ),
    wording(
        ("how-to-V-N", "How to V the N."),
        (Lines("- "), "Use "),
        (Bare, Colon),
    ),
    wording(
        (
            "V-the-N",
            "Steps for T, for every task that wants to V the N.",
        ),
        (Prose("First run ", "Then run ", "Then run "), ""),
        (Bare, With),
    ),
    wording(
        ("N-V", "Use this to V the N."),
        (LastFirst("Before you call ", ", call ", ""), ""),
        (Bare, Sentences),
    ),
    wording(
        ("V-N", "What it takes to V the N."),
        (LastFirst("Call ", " only after ", ""), ""),
        (Ticks, Sentences),
    ),
    wording(
        ("steps-of-V-N", "When somebody wants to V the N."),
        (LastFirst("", " requires ", ""), ""),
        (Bare, Sentences),
    ),
    wording(
        ("V-N", "V the N: the calls and their values."),
        (Block, ""),
        (Bare, With),
    ),
    wording(
        ("V-N-in-steps", "A procedure to V the N."),
        (Lines("### Step %\n"), "Invoke "),
        (Bare, Colon),
    ),
    wording(
        ("V-N", "To V the N."),
        (Prose("", "Then ", "Finally "), ""),
        (Words, Sentences),
    ),
    wording(
        ("last-V-N", "T, and what comes ahead of it."),
        (
            LastFirst("The last call is ", ". Ahead of it come ", ""),
            "",
        ),
        (Quotes, With),
    ),
];

/// See [`DEVELOPMENT`].
pub(super) const HELD_OUT: [Wording; 10] = [
    wording(
        ("V-N", "Tells how T is called. For requests to V the N."),
        (Lines("%) "), "Execute "),
        (Quotes, Colon),
    ),
    wording(
        ("V-a-N", "Instructions for tasks in which one must V the N."),
        (Lines("\u{2022} "), "Make the call "),
        (Ticks, With),
    ),
    wording(
        ("V-N-calls", "V the N without refusals."),
        (
            Prose("Step 1: send ", "Next: send ", "Last step: send "),
            "",
        ),
        (Bare, With),
    ),
    wording(
        ("V-N", "The order of calls to V the N."),
        (LastBehind("Call ", " before you call ", ""), ""),
        (Ticks, Sentences),
    ),
    wording(
        (
            "V-N-safely",
            "Use it whenever the N is to be handled with T.",
        ),
        (LastFirst("Do not send ", " until you have sent ", ""), ""),
        (Bare, Sentences),
    ),
    wording(
        ("T-works", "Makes T work."),
        (LastFirst("", " fails unless you have called ", ""), ""),
        (Ticks, Colon),
    ),
    wording(
        ("V-N", "A task that says V and N needs these calls."),
        (Inline, ""),
        (Bare, With),
    ),
    wording(
        ("V-N-order", "If you are asked to V the N, read this."),
        (LastBehind("After ", " has succeeded, go on with ", ""), ""),
        (Bare, With),
    ),
    wording(("V-N", "Guide: V the N."), (Lines("* "), ""), (Words, With)),
    wording(
        ("needs-of-V-N", "The needs of T."),
        (LastFirst("", " needs ", " first"), ""),
        (Quotes, Sentences),
    ),
];

impl Wording {
    /// A procedure in this wording.
    pub(super) fn draft(&self, procedure: &Procedure) -> SkillDraft {
        let fill = |text: &str| {
            let ToolName { verb, noun } = &procedure.title;
            let words = text.split_inclusive(|c: char| !c.is_alphanumeric());
            let filled = words.map(|word| {
                let end = word.trim_end_matches(|c: char| !c.is_alphanumeric());
                let rest = word.get(end.len()..).unwrap_or_default();
                let word = match end {
                    "V" => verb.clone(),
                    "N" => noun.clone(),
                    "T" => wire_name(&procedure.title),
                    other => other.to_owned(),
                };
                word + rest
            });
            filled.collect::<String>()
        };
        SkillDraft::new(
            fill(self.title),
            fill(self.description),
            self.body(&procedure.steps),
        )
    }

    fn body(&self, steps: &[Step]) -> String {
        let calls = || steps.iter().map(|step| self.call(step));
        let mut body = match self.layout {
            Lines(marker) => {
                let line = |(number, call): (usize, String)| {
                    marker.replace('%', &(number + 1).to_string()) + &call
                };
                calls().enumerate().map(line).collect::<Vec<_>>().join("\n")
            }
            Prose(first, next, last) => {
                let word = |at: usize| match at {
                    0 => first,
                    at if at + 1 == steps.len() => last,
                    _ => next,
                };
                let sentences = calls()
                    .enumerate()
                    .map(|(at, call)| sentence(&format!("{}{call}", word(at))));
                sentences.collect::<Vec<_>>().join(" ")
            }
            LastFirst(before, between, behind) => {
                let (last, earlier) = self.last_and_earlier(steps);
                match earlier {
                    Some(earlier) => sentence(&format!("{before}{last}{between}{earlier}{behind}")),
                    None => sentence(&format!("Call {last}")),
                }
            }
            LastBehind(before, between, behind) => {
                let (last, earlier) = self.last_and_earlier(steps);
                match earlier {
                    Some(earlier) => sentence(&format!("{before}{earlier}{between}{last}{behind}")),
                    None => sentence(&format!("Call {last}")),
                }
            }
            Block => {
                let calls: Vec<String> = steps.iter().map(as_code).collect();
                format!("```\n{}\n```", calls.join("\n"))
            }
            Inline => {
                let calls = steps.iter().map(|step| format!("`{}`", as_code(step)));
                let calls: Vec<String> = calls.collect();
                format!("Start with {}.", calls.join(", go on with "))
            }
        };
        if self.values_are_apart() {
            let settings = steps.iter().flat_map(|step| &step.settings);
            for (parameter, value) in settings {
                let parameter = self.marked(parameter);
                let said = match value {
                    Value::Exact(value) => format!("has to be {}", self.marked(value)),
                    Value::Task => "comes from the task".to_owned(),
                    Value::Result => "comes from the latest result".to_owned(),
                };
                body.push_str(&format!(" The {parameter} {said}."));
            }
        }
        body
    }

    /// Whether the values have sentences of their own, as in all layouts of one sentence.
    fn values_are_apart(&self) -> bool {
        let of_one_sentence = matches!(self.layout, LastFirst(..) | LastBehind(..));
        of_one_sentence || matches!(self.values, Sentences)
    }

    fn last_and_earlier(&self, steps: &[Step]) -> (String, Option<String>) {
        let mut names: Vec<String> = steps.iter().map(|step| self.name(&step.tool)).collect();
        let last = names.pop().unwrap_or_default();
        (last, (!names.is_empty()).then(|| names.join(" and ")))
    }

    fn call(&self, step: &Step) -> String {
        let mut call = format!("{}{}", self.verb, self.name(&step.tool));
        if step.settings.is_empty() || self.values_are_apart() {
            return call;
        }
        let said = step.settings.iter().map(|(parameter, value)| {
            let parameter = self.marked(parameter);
            let said = match value {
                Value::Exact(value) => self.marked(value),
                Value::Task => "the value that the task gives".to_owned(),
                Value::Result => "the value of the latest result".to_owned(),
            };
            match self.values {
                Colon => format!("{parameter}: {said}"),
                With | Sentences => format!("{parameter} set to {said}"),
            }
        });
        let said = said.collect::<Vec<_>>().join(", ");
        call.push_str(&match self.values {
            Colon => format!(" ({said})"),
            With | Sentences => format!(" with {said}"),
        });
        call
    }

    fn name(&self, tool: &ToolName) -> String {
        match self.mark {
            Words => format!("{} the {}", tool.verb, tool.noun),
            _ => self.marked(&wire_name(tool)),
        }
    }

    fn marked(&self, word: &str) -> String {
        match self.mark {
            Bare | Words => word.to_owned(),
            Ticks => format!("`{word}`"),
            Quotes => format!("\"{word}\""),
        }
    }
}

fn as_code(step: &Step) -> String {
    let settings = step.settings.iter().map(|(parameter, value)| match value {
        Value::Exact(value) => format!("{parameter}={value}"),
        Value::Task => format!("{parameter}=<of the task>"),
        Value::Result => format!("{parameter}=<of the latest result>"),
    });
    let settings: Vec<String> = settings.collect();
    format!("{}({})", wire_name(&step.tool), settings.join(", "))
}

/// With a capital, unless it begins with a name, and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first)
            if !text.starts_with('`')
                && !text
                    .split(' ')
                    .next()
                    .is_some_and(|word| word.contains('_')) =>
        {
            format!("{}{}.", first.to_uppercase(), letters.as_str())
        }
        _ => format!("{text}."),
    }
}
