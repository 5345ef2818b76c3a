//! Figures that another command measures: it prints `name, value, bound, ok|short` lines, as this one does.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::{
    figures::{Bound, Figures, Outcome, code},
    source::repository,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A command that is run in the repository.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(repository());
    command
}

/// Runs the command once and records its figures. Status 1 says that one is short; another one that it failed.
pub(crate) fn run(figures: &mut Figures<'_>, key: &str, command: Command) -> Outcome {
    // The command is built from the repository, and is no part of this program.
    let of = format!("{key}, repository {}", code::of_the_repository()?);
    let lines: Vec<String> = figures.once(&of, || lines(command))?;
    for line in &lines {
        let (name, value, bound) =
            parsed(line).ok_or_else(|| format!("{key}: not understood: {line}"))?;
        figures.record(name, value, bound);
    }
    Ok(())
}

fn lines(mut command: Command) -> Result<Vec<String>, Failure> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().ok_or("the command has no output")?;
    let lines: Vec<String> = BufReader::new(out).lines().collect::<Result<_, _>>()?;
    // Cargo ends with its own status where a bench says that it is short.
    let status = child.wait()?;
    let lines: Vec<String> = lines
        .into_iter()
        .filter(|line| parsed(line).is_some())
        .collect();
    let short = lines.iter().any(|line| line.ends_with(", short"));
    if lines.is_empty() || (!status.success() && !short) {
        return Err(format!(
            "{command:?} ended with {status} and {} figures",
            lines.len()
        )
        .into());
    }
    Ok(lines)
}

fn parsed(line: &str) -> Option<(&str, f64, Bound)> {
    let mut parts = line.rsplitn(4, ", ");
    let result = parts.next()?;
    let bound = match parts.next()?.split_once(' ') {
        None => Bound::None,
        Some(("<=", most)) => Bound::AtMost(most.parse().ok()?),
        Some((">=", least)) => Bound::AtLeast(least.parse().ok()?),
        Some(_) => return None,
    };
    let value = parts.next()?.parse().ok()?;
    matches!(result, "ok" | "short").then_some((parts.next()?, value, bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_figures_are_told_from_others() {
        assert_eq!(
            parsed("F1, kills, 0.5, <= 2, ok"),
            Some(("F1, kills", 0.5, Bound::AtMost(2.0)))
        );
        assert!(matches!(
            parsed("a, 1, none, ok"),
            Some(("a", _, Bound::None))
        ));
        for other in [
            "",
            "running 3 tests",
            "a, b, c, d",
            "a, 1, about 2, ok",
            "a, 1, none, fine",
        ] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }
}
