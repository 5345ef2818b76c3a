//! The fault harness: `bash tests/faults/run.sh [--full] [--seed N] [SCENARIO...]`.
//!
//! A scenario does harm to libraries on disk and says what they lost: one line for each figure, `name, value, bound,
//! ok|short`. The status is 1 when one is short, 2 when one could not be measured. A new scenario is a line in
//! [`SCENARIOS`] and a file beside this one.

mod check;
mod child;
mod crowd;
mod curator;
mod damage;
mod folders;
mod full;
mod history;
mod image;
mod kill;
mod people;
mod power;
mod report;
mod seam;
mod spoiled;

use std::{
    process::ExitCode,
    time::{Instant, SystemTime},
};

use journeyman::Seed;

use report::{Outcome, Report};

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Size {
    full: bool,
    seed: Seed,
}

impl Size {
    fn of(self, full: u64, short: u64) -> u64 {
        if self.full { full } else { short }
    }
}

type Scenario = fn(&mut Report, &Size) -> Outcome;

/// The scenarios, by the names of the faults.
const SCENARIOS: [(&str, Scenario); 9] = [
    ("F1", kill::run),
    ("F2", power::run),
    ("F3", damage::run),
    ("F4", crowd::writing),
    ("F5", crowd::opening),
    ("F6", full::run),
    ("F7", power::failing),
    ("F8", people::run),
    ("F9", spoiled::gone),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, rest)) if first == "writer" => child::write(rest).map(|()| 0),
        Some((first, rest)) if first == "curator" => curator::curate(rest).map(|()| 0),
        Some((first, rest)) if first == "look" => damage::look(rest).map(|()| 0),
        _ => harness(&arguments),
    };
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            Report::new().progress(error);
            ExitCode::from(2)
        }
    }
}

/// Runs the scenarios that are named, or all; gives how many figures are short.
fn harness(arguments: &[String]) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    // Each run meets new cases, and says how to meet them again.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let mut size = Size {
        full: false,
        seed: Seed(now.as_millis() as u64),
    };
    let mut wanted = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--full" => size.full = true,
            "--seed" => size.seed = Seed(arguments.next().ok_or("--seed needs a number")?.parse()?),
            name if SCENARIOS.iter().any(|(known, _)| *known == name) => wanted.push(name),
            other => {
                let known = SCENARIOS.map(|(name, _)| name).join(", ");
                return Err(
                    format!("{other}: no such scenario or option; there are: {known}").into(),
                );
            }
        }
    }
    let mut report = Report::new();
    report.progress(format_args!("seed {}", size.seed));
    for (name, scenario) in SCENARIOS {
        if wanted.is_empty() || wanted.contains(&name) {
            report.progress(format_args!("{name} …"));
            let start = Instant::now();
            scenario(&mut report, &size)?;
            let seconds = start.elapsed().as_secs_f64();
            report.told(format_args!("{name}.time (s)"), seconds);
        }
    }
    Ok(report.short)
}
