//! The quickstart with a public model, and with the bundled one in the arithmetic that users have.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    figures::{Bound, Figures, Outcome},
    quickstart::last_object,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a run showed.
#[derive(Debug, Serialize, Deserialize)]
struct Shown {
    minutes: f64,
    /// The longest time without a line, in seconds.
    silence: f64,
    /// Shares of the held-out tasks.
    done_before: f64,
    done_after: f64,
    hidden_at_once_after: f64,
    skills: usize,
}

pub(super) fn record(figures: &mut Figures<'_>, root: &Path, bundled: &Path) -> Outcome {
    let seed = figures.options().seed.0.to_string();
    let shown: Shown = figures.once("the quickstart with SmolLM2", || {
        run(
            root,
            &["--model", "smollm2", "--tasks", "8", "--seed", &seed],
        )
    })?;
    figures.record(
        "quickstart with SmolLM2, 8 tasks: minutes",
        shown.minutes,
        Bound::AtMost(10.0),
    );
    figures.record(
        "quickstart with SmolLM2: longest silence, seconds",
        shown.silence,
        Bound::AtMost(10.0),
    );
    figures.record(
        "quickstart with SmolLM2: held-out tasks done before, %",
        100.0 * shown.done_before,
        Bound::None,
    );
    figures.record(
        "quickstart with SmolLM2: held-out tasks done after, %",
        100.0 * shown.done_after,
        Bound::None,
    );
    figures.record(
        "quickstart with SmolLM2: skills",
        shown.skills as f64,
        Bound::None,
    );
    let model = bundled.to_string_lossy();
    let shown: Shown = figures.once("the quickstart with the bundled model", || {
        run(root, &["--model", &model, "--seed", &seed])
    })?;
    figures.record(
        "quickstart, bundled model, default arithmetic: hidden, at once, after, %",
        100.0 * shown.hidden_at_once_after,
        Bound::AtLeast(80.0),
    );
    figures.record(
        "quickstart, bundled model: minutes",
        shown.minutes,
        Bound::None,
    );
    Ok(())
}

/// The longest time without a line of a quickstart, in seconds.
pub(crate) fn silence(root: &Path, arguments: &[&str]) -> Result<f64, Failure> {
    Ok(run(root, arguments)?.silence)
}

fn run(root: &Path, arguments: &[&str]) -> Result<Shown, Failure> {
    let script = root.join("examples/quickstart.sh");
    // Builds, so that the time is that of the run alone.
    let built = Command::new("bash").arg(&script).arg("--help").output()?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into());
    }
    let out = tempfile::tempdir()?;
    let start = Instant::now();
    let mut child = Command::new("bash")
        .arg(&script)
        .args(arguments)
        .args(["--json", "--out"])
        .arg(out.path().join("quickstart"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let told = child.stderr.take().ok_or("it has no error stream")?;
    let silence = thread::spawn(move || longest_silence(told, start));
    let done = child.wait_with_output()?;
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    let (silence, last) = silence.join().map_err(|_| "the reader failed")?;
    if !done.status.success() {
        return Err(format!("the quickstart ended with {}: {last}", done.status).into());
    }
    let object = last_object(&String::from_utf8_lossy(&done.stdout))?;
    let share = |value: &Value| value.as_f64().ok_or("a share is missing");
    Ok(Shown {
        minutes,
        silence: silence.as_secs_f64(),
        done_before: share(&object["before"]["success"])?,
        done_after: share(&object["after"]["success"])?,
        hidden_at_once_after: share(&object["after"]["hidden"]["first_attempt_success"])?,
        skills: object["skills"].as_array().map_or(0, Vec::len),
    })
}

/// The longest time without a line, and the last lines.
fn longest_silence(told: impl std::io::Read, start: Instant) -> (Duration, String) {
    let (mut at, mut longest) = (start, Duration::ZERO);
    let mut last = VecDeque::new();
    for line in BufReader::new(told).lines() {
        let Ok(line) = line else { break };
        longest = longest.max(at.elapsed());
        at = Instant::now();
        last.push_back(line);
        if last.len() > 5 {
            last.pop_front();
        }
    }
    let last: Vec<String> = last.into();
    (longest.max(at.elapsed()), last.join("\n"))
}
