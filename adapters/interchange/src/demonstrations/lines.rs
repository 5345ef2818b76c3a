//! Demonstrations as JSON Lines.

use journeyman::{
    Error, ErrorKind, Result,
    domain::{AttemptId, Trace},
};

use super::demonstration::Demonstration;

const READ: &str = "demonstrations::read";
const WRITE: &str = "demonstrations::write";

/// The demonstrations among attempts, and why the others cannot be shown.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownAttempts {
    /// The demonstrations, in the order of the attempts.
    pub demonstrations: Vec<Demonstration>,
    /// The other attempts.
    pub refused: Vec<RefusedAttempt>,
}

/// An attempt that cannot be shown.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAttempt {
    /// Which attempt.
    pub attempt: AttemptId,
    /// Why.
    pub reason: String,
}

/// The demonstrations among attempts, such as those of a library ([`SkillLibrary::traces`](journeyman::library::SkillLibrary::traces))
/// or of a journal ([`recorded_attempts`](journeyman::run::recorded_attempts)).
pub fn of_attempts<'a>(attempts: impl IntoIterator<Item = &'a Trace>) -> ShownAttempts {
    let mut shown = ShownAttempts::default();
    for attempt in attempts {
        match Demonstration::of(attempt) {
            Ok(demonstration) => shown.demonstrations.push(demonstration),
            Err(error) => shown.refused.push(RefusedAttempt {
                attempt: attempt.trajectory.attempt.clone(),
                reason: error.message().to_owned(),
            }),
        }
    }
    shown
}

/// Writes demonstrations, one a line.
///
/// # Errors
/// As [`Demonstration::validate`]; `Internal` where one cannot be written as JSON.
pub fn write(demonstrations: &[Demonstration]) -> Result<String> {
    let mut lines = String::new();
    for demonstration in demonstrations {
        demonstration.validate()?;
        let line = serde_json::to_string(demonstration).map_err(|error| {
            Error::new(
                ErrorKind::Internal,
                WRITE,
                "a demonstration cannot be written as JSON",
            )
            .source_from(error)
        })?;
        lines.push_str(&line);
        lines.push('\n');
    }
    Ok(lines)
}

/// Reads and validates demonstrations, one a line; blank lines are passed over.
///
/// # Errors
/// `Invalid` for a line that is no demonstration, with its number from 1 and the place in it; `Unsupported` for another version
/// of the form. The error never repeats the text.
pub fn read(lines: &str) -> Result<Vec<Demonstration>> {
    let lines = (1..).zip(lines.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let demonstrations = lines.map(|(number, line): (usize, &str)| {
        let demonstration: Demonstration = serde_json::from_str(line).map_err(|error| {
            Error::invalid(READ, "the line is no demonstration")
                .with("line", number)
                .with("column", error.column())
                .hint("docs/reference/demonstrations.md has the JSON Schema of a line")
        })?;
        demonstration
            .validate()
            .map_err(|error| error.with("line", number))?;
        Ok(demonstration)
    });
    demonstrations.collect()
}
