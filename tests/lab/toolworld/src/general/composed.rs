//! Skills whose form is put together by chance, so that a reader cannot rely on one.

use super::recipe::{Origin, Recipe};
use crate::seed::Draws;
use crate::tool::{ToolName, wire_name};

const MARKS: [&str; 7] = ["", "", "", "`", "'", "\"", "**"];
const CALLS: [&str; 9] = [
    "",
    "",
    "Call ",
    "call ",
    "Use ",
    "Run ",
    "Invoke ",
    "Make the call ",
    "Do ",
];
const ANDS: [&str; 5] = [", ", ", ", " and ", "; ", " "];
const IS: [&str; 8] = [
    " = ",
    "=",
    ": ",
    " ",
    " to ",
    " is ",
    " set to ",
    " must be ",
];
const GIVEN: [&str; 10] = [
    " from the task",
    " as the task says",
    " given by the task",
    " of the task",
    " what the user asks for",
    ": (task)",
    "=<task>",
    "={task}",
    ": see the task",
    " = value of the task",
];
const THEN: [&str; 9] = [
    "\n",
    "\n",
    "\n\n",
    "; ",
    ". ",
    ", then ",
    " | ",
    " && ",
    ", and after that ",
];
const LINES: [&str; 8] = ["", "- ", "* ", "#. ", "#) ", "Step #: ", "(#) ", "#: "];
const ARGUMENTS: [(&str, &str); 10] = [
    (" with ", ""),
    (" with ", ""),
    (": ", ""),
    (" using ", ""),
    (" (", ")"),
    ("(", ")"),
    (" - ", ""),
    (", ", ""),
    (" [", "]"),
    (" and set ", ""),
];
const RESULTS: [(&str, &str); 9] = [
    (" from ", ""),
    (" the one of ", ""),
    (" as ", " returned it"),
    (" what ", " gives"),
    ("=<", ">"),
    ("={", "}"),
    (": result of ", ""),
    (" out of ", ""),
    (" = the answer of ", ""),
];

/// The signs and words of one skill in [`Style::Composed`](super::styles::Style::Composed). None of them has an arrow.
pub(super) struct Composed {
    mark: &'static str,
    call: &'static str,
    /// Between the tool and its arguments, and behind them.
    arguments: (&'static str, &'static str),
    /// Between two arguments.
    and: String,
    /// Between a parameter and its fixed value.
    is: String,
    /// Where the task gives a value.
    given: &'static str,
    /// Before and behind the tool whose result gives a value.
    result: (&'static str, &'static str),
    /// Between two calls.
    then: String,
    /// Before each call where lines are numbered or listed; `#` is its number.
    line: &'static str,
}

/// Signs that say nothing, so that what stands between calls and values can be anything. None is an arrow.
fn signs(draws: &mut Draws) -> String {
    const SIGNS: [&str; 22] = [
        "~", "^", "%", "&", "*", "+", "/", "\\", "|", ":", ";", "=", "_", "-", "<", ">", "!", "?",
        ".", ",", "@", "$",
    ];
    const ARROWS: [&str; 7] = ["->", "=>", "~>", "_>", "<-", "<=", "|>"];
    loop {
        let count = draws.between(1, 3);
        let signs: String = (0..count).map(|_| draws.word(&SIGNS)).collect();
        if !ARROWS.iter().any(|arrow| signs.contains(arrow)) {
            return format!(" {signs} ");
        }
    }
}

fn pick<T: Copy + Default>(from: &[T], draws: &mut Draws) -> T {
    let at = draws.below(from.len());
    from.get(at).copied().unwrap_or_default()
}

impl Composed {
    pub(super) fn draw(draws: &mut Draws) -> Self {
        let mark = pick(&MARKS, draws);
        let call = pick(&CALLS, draws);
        let and = pick(&ANDS, draws);
        let is = pick(&IS, draws);
        let given = pick(&GIVEN, draws);
        let then = pick(&THEN, draws);
        let is_lines = then.contains('\n');
        let line = if is_lines { pick(&LINES, draws) } else { "" };
        let arguments = pick(&ARGUMENTS, draws);
        let result = pick(&RESULTS, draws);
        let mut or_signs = |usual: &str, share: f64| match draws.chance(share) {
            true => signs(draws),
            false => usual.to_owned(),
        };
        let (and, is) = (or_signs(and, 0.1), or_signs(is, 0.15));
        let then = or_signs(then, if is_lines { 0.0 } else { 0.6 });
        Self {
            mark,
            call,
            arguments,
            and,
            is,
            given,
            result,
            then,
            line,
        }
    }

    pub(super) fn body(&self, recipe: &Recipe, draws: &mut Draws) -> String {
        let Self {
            mark,
            call,
            and,
            is,
            given,
            ..
        } = self;
        let named = |tool: &ToolName| format!("{mark}{}{mark}", wire_name(tool));
        let mut arguments: Vec<String> = recipe
            .arguments
            .iter()
            .map(|(parameter, origin)| match origin {
                Origin::Task => format!("{parameter}{given}"),
                Origin::Fixed(value) => format!("{parameter}{is}{mark}{value}{mark}"),
                Origin::Result(source) => format!(
                    "{parameter}{}{}{}",
                    self.result.0,
                    wire_name(source),
                    self.result.1
                ),
            })
            .collect();
        if draws.chance(0.3) {
            draws.shuffle(&mut arguments);
        }
        let mut last = named(&recipe.tool);
        if !arguments.is_empty() {
            let (before, behind) = self.arguments;
            last.push_str(&format!("{before}{}{behind}", arguments.join(and)));
        }
        let calls = recipe.before.iter().map(named).chain([last]);
        let lines = (1..).zip(calls).map(|(number, text): (usize, String)| {
            format!(
                "{}{call}{text}",
                self.line.replace('#', &number.to_string())
            )
        });
        let text = lines.collect::<Vec<_>>().join(&self.then);
        let ToolName { verb, noun } = &recipe.tool;
        match draws.weighted(&[60, 10, 10, 10, 10]) {
            0 => text,
            1 => format!("Steps:\n{text}"),
            2 => format!("To {verb} the {noun}: {text}"),
            3 => format!("## {verb} {noun}\n{text}"),
            _ => format!("{text}\nThat is all."),
        }
    }
}
