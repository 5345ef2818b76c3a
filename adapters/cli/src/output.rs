//! Prints one answer, as text or as JSON, or one error.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::{Mutex, PoisonError},
};

use indicatif::ProgressBar;
use journeyman::{Error, ErrorKind, Result, text::plain_terminal};
use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::words::of_the_command;

/// The bar on standard error, while one is shown.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The command's exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    #[default]
    Done = 0,
    Refused = 1,
    Usage = 2,
    NotFound = 3,
    Damaged = 4,
    Unavailable = 5,
}

impl Exit {
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::Corrupt => Self::Damaged,
            ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::RateLimited => {
                Self::Unavailable
            }
            _ => Self::Refused,
        }
    }
}

/// A command's answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) json: Value,
    pub(crate) text: String,
    pub(crate) exit: Exit,
}

/// Prints an answer or an error.
pub(crate) fn answer(json: bool, answer: Result<Answer>) -> ExitCode {
    let exit = match &answer {
        Ok(answer) => answer.exit,
        Err(error) => Exit::of(error),
    };
    let printed = match (answer, json) {
        (Ok(answer), true) => print(as_json(&answer.json).as_bytes()),
        (Ok(answer), false) => print(plain_terminal(&answer.text).as_bytes()),
        (Err(error), true) => print_error(&error),
        (Err(error), false) => {
            say(&format!("error: {}", error_text(&error)));
            ExitCode::SUCCESS
        }
    };
    if printed == ExitCode::SUCCESS {
        ExitCode::from(exit as u8)
    } else {
        printed
    }
}

/// Prints an error about the arguments as JSON.
pub(crate) fn usage(error: &Error) -> ExitCode {
    match print_error(error) {
        ExitCode::SUCCESS => ExitCode::from(Exit::Usage as u8),
        printed => printed,
    }
}

fn print_error(error: &Error) -> ExitCode {
    print(as_json(&json!({"error": error_json(error)})).as_bytes())
}

/// Prints bytes. A reader that goes away is no error.
pub(crate) fn print(bytes: &[u8]) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            say(&format!("error: the answer cannot be written: {error}"));
            ExitCode::from(Exit::Unavailable as u8)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints a warning on standard error.
pub(crate) fn warn(error: &Error) {
    say(&format!("warning: {}", error_text(error)));
}

/// Prints a note on standard error.
pub(crate) fn tell(text: &str) {
    say(text);
}

/// Prints lines above this bar from now on.
pub(crate) fn print_above(bar: Option<ProgressBar>) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

fn say(text: &str) {
    let write = || {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "{}", plain_terminal(text));
    };
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Message, facts and hint, each on a line of its own.
pub(crate) fn error_text(error: &Error) -> String {
    let mut text = cell(&of_the_command(error.message()));
    for (key, value) in error.facts() {
        let key = cell(key).replace('_', " ");
        text.push_str(&format!("\n  {key}: {}", cell(&of_the_command(value))));
    }
    if let Some(hint) = error.hint_text() {
        text.push_str(&format!("\n  hint: {}", cell(&of_the_command(hint))));
    }
    text
}

pub(crate) fn error_json(error: &Error) -> Value {
    let facts = error
        .facts()
        .map(|(key, value)| (key.to_owned(), value.into()));
    json!({
        "kind": word(&error.kind()),
        "operation": error.operation(),
        "message": of_the_command(error.message()),
        "details": facts.collect::<serde_json::Map<String, Value>>(),
        "hint": error.hint_text().map(of_the_command),
    })
}

/// JSON text that a terminal shows as it is: control characters that JSON permits are escaped too.
fn as_json(value: &Value) -> String {
    let mut text = String::new();
    for c in format!("{value:#}\n").chars() {
        if c == '\n' || plain_terminal(c.encode_utf8(&mut [0; 4])).as_ref() != "" {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// The name of an enumeration's value in JSON.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Untrusted text on one line, without control characters.
pub(crate) fn cell(text: &str) -> String {
    plain_terminal(text).replace(['\n', '\t'], " ")
}

/// Maximum number of lines about one commit.
const MOST: usize = 20;

/// The first lines, and the number of the rest.
pub(crate) fn first_lines(lines: &[String]) -> String {
    let mut text: String = lines.iter().take(MOST).map(String::as_str).collect();
    if let Some(more) = lines.len().checked_sub(MOST + 1) {
        text.push_str(&format!(
            "  ... and {} more; --json has them all\n",
            more + 1
        ));
    }
    text
}

/// The first lines of a table.
pub(crate) fn first_rows(head: &[&str], rows: &[Vec<String>]) -> String {
    let table = table(head, rows);
    let lines: Vec<String> = table.lines().map(|line| format!("{line}\n")).collect();
    first_lines(&lines)
}

/// What a nat is, for a table that has some.
pub(crate) const NATS: &str = "One nat more is 2.7 times the probability.";

/// A number of things: `1 file`, `2 files`.
pub(crate) fn of_them(number: u64, one: &str, several: &str) -> String {
    let what = if number == 1 { one } else { several };
    format!("{number} {what}")
}

/// A number with so many digits after its point; `-` where there is none.
pub(crate) fn number(number: Option<f64>, digits: usize) -> String {
    number.map_or("-".to_owned(), |number| format!("{number:.digits$}"))
}

/// A table with aligned columns; without a head line where `head` is empty.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    let head = Some(&head).filter(|head| !head.is_empty());
    let rows: Vec<Vec<String>> = head
        .into_iter()
        .chain(rows)
        .map(|row: &Vec<String>| row.iter().map(|text| cell(text)).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells.map(|text| text.width()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
