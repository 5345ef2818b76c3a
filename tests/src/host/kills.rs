//! Runs that are killed at random moments and resumed by another process: whether they end in the same library.

use std::{
    error::Error,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use journeyman::Seed;
use serde::{Deserialize, Serialize};

use super::child::ARGUMENT;
use crate::figures::{Bound, Figures, Outcome};

/// Kills of each kind.
const KILLS: u64 = 200;

type Failure = Box<dyn Error + Send + Sync>;

/// What the kills of one kind came to.
#[derive(Default, Serialize, Deserialize)]
struct Killed {
    kills: u64,
    /// Processes that ended before they were killed.
    missed: u64,
    /// Resumed runs whose library differs.
    differ: u64,
    /// How long an uninterrupted run takes behind its opening, in milliseconds.
    whole_ms: u64,
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    for recipe in ["arise", "hisme", "standard"] {
        for retriever in ["memory", "disk"] {
            let what = format!("kills, {recipe}, retriever {retriever}");
            let killed: Killed = figures.once(&what, || kill(recipe, retriever, seed))?;
            figures.record(
                &format!("{what}: made"),
                killed.kills as f64,
                Bound::AtLeast(KILLS as f64),
            );
            figures.record(
                &format!("{what}: libraries that differ"),
                killed.differ as f64,
                Bound::AtMost(0.0),
            );
            figures.record(
                &format!("{what}: an uninterrupted run, ms"),
                killed.whole_ms as f64,
                Bound::None,
            );
        }
    }
    Ok(())
}

fn kill(recipe: &str, retriever: &str, seed: Seed) -> Result<Killed, Failure> {
    let mut killed = Killed::default();
    // A slow first process would have kills fall behind the end of most: the least of three is taken.
    let mut whole = Duration::MAX;
    let mut expected = String::new();
    for _ in 0..3 {
        let folder = tempfile::tempdir()?;
        let (mut child, mut lines) = start(folder.path(), recipe, retriever, seed)?;
        let began = Instant::now();
        expected = rest(&mut child, &mut lines)?;
        whole = whole.min(began.elapsed());
    }
    killed.whole_ms = u64::try_from(whole.as_millis())?;
    let mut number = 0;
    while killed.kills < KILLS {
        let folder = tempfile::tempdir()?;
        let moment = seed.derive("kill", number);
        number += 1;
        let (mut child, mut lines) = start(folder.path(), recipe, retriever, seed)?;
        std::thread::sleep(whole.mul_f64(moment.unit()));
        if child.try_wait()?.is_some() {
            killed.missed += 1;
            if killed.missed > 20 * KILLS {
                return Err("the process always ends before it is killed".into());
            }
            continue;
        }
        child.kill()?;
        child.wait()?;
        drop(lines.read_to_string(&mut String::new()));
        killed.kills += 1;
        let (mut child, mut lines) = start(folder.path(), recipe, retriever, seed)?;
        killed.differ += u64::from(rest(&mut child, &mut lines)? != expected);
    }
    Ok(killed)
}

pub(crate) type Lines = BufReader<std::process::ChildStdout>;

/// A process that has opened its library.
fn start(
    folder: &Path,
    recipe: &str,
    retriever: &str,
    seed: Seed,
) -> Result<(Child, Lines), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg(ARGUMENT)
        .arg(folder)
        .args([recipe, retriever, &seed.to_string()])
        .stdin(Stdio::null());
    ready(&mut command)
}

/// Starts a process, and waits until it says that it is ready.
pub(crate) fn ready(command: &mut Command) -> Result<(Child, Lines), Failure> {
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn()?;
    let out = child.stdout.take().ok_or("the process has no output")?;
    let mut lines = BufReader::new(out);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    match line.trim() {
        "ready" => Ok((child, lines)),
        other => Err(format!("the process said {other:?}").into()),
    }
}

/// What a process says at its end.
fn rest(child: &mut Child, lines: &mut Lines) -> Result<String, Failure> {
    let mut rest = String::new();
    lines.read_to_string(&mut rest)?;
    let status = child.wait()?;
    match rest.trim().strip_prefix("library ") {
        Some(hash) if status.success() => Ok(hash.to_owned()),
        _ => Err(format!("the process ended with {status}: {rest}").into()),
    }
}
