//! `journeyman run` as a new user runs it: on a toy environment in Python, and on BFCL's tasks.

use std::{fs, process::Command};

use serde_json::Value;

use super::external::{self, set_up};
use crate::{
    figures::{Bound, Figures, Outcome},
    source::{bundled_model, repository},
};

const TOY: &str = "journeyman run on a toy environment in Python: exit status";
const BFCL: &str = "journeyman run on BFCL's tasks: exit status";
const DONE: Bound = Bound::AtMost(0.0);
/// The least that a run must tell of its tasks: one held-out task judged before, and one after.
const JUDGED: Bound = Bound::AtLeast(1.0);

pub(crate) fn run(figures: &mut Figures<'_>) -> Outcome {
    let journeyman = external::journeyman()?;
    let seed = figures.options().seed.0.to_string();
    let place = tempfile::tempdir()?;
    // The guide's first example, with a library of its own.
    let example = repository().canonicalize()?.join("examples/services");
    let text = fs::read_to_string(example.join("run.toml"))?;
    let library = place.path().join("library");
    let text = text.replace("../../out/services", &library.display().to_string());
    let file = example.join(format!(".run-{}.toml", std::process::id()));
    fs::write(&file, text)?;
    let mut command = Command::new(&journeyman);
    command
        .arg("run")
        .arg(&file)
        .args(["--seed", &seed, "--json"]);
    let ended = external::run(command);
    fs::remove_file(&file)?;
    let ended = ended?;
    let exit = status(figures, &ended);
    figures.record(TOY, exit, DONE);
    told(figures, "toy environment", &ended.out);
    if set_up("JOURNEYMAN_BFCL_PYTHON").is_none() {
        figures.record(BFCL, f64::NAN, DONE);
        told(figures, "BFCL's tasks", "");
        return Ok(());
    }
    // The bundled model cannot do such tasks: what is shown is that all parts work together to the end.
    let model = bundled_model().canonicalize()?;
    let mut command = Command::new("bash");
    command
        .arg("tests/lab/bfcl/run.sh")
        .arg(place.path().join("bfcl"))
        .arg(format!("gguf = \"{}\"", model.display()))
        .args(["template = \"chatml\"", "context = 16384"])
        .env("JOURNEYMAN", &journeyman)
        .envs([("COUNT", "3"), ("HELD_OUT", "1"), ("ARGUMENTS", "--json")]);
    let ended = external::run(command)?;
    let exit = status(figures, &ended);
    figures.record(BFCL, exit, DONE);
    told(figures, "BFCL's tasks", &ended.out);
    Ok(())
}

/// What the run's JSON tells: how many held-out tasks were judged and how well they were done, before and after, and faults.
fn told(figures: &mut Figures<'_>, what: &str, json: &str) {
    let told: Value = serde_json::from_str(json).unwrap_or_default();
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    for when in ["before", "after"] {
        let held_out = &told[when];
        let name = format!("{what}: held-out tasks judged {when}");
        figures.record(&name, number(&held_out["judged"]), JUDGED);
        let name = format!("{what}: held-out score {when}");
        figures.record(&name, number(&held_out["score"]), Bound::None);
        let name = format!("{what}: faults {when}");
        figures.record(&name, number(&held_out["faults"]), DONE);
    }
    let learning = &told["learning"];
    let faults = number(&learning["faults"]);
    // Nothing is learned from an attempt that ended with a fault.
    let name = format!("{what}: attempts learned from");
    figures.record(&name, number(&learning["attempts"]) - faults, JUDGED);
    let name = format!("{what}: faults while learning");
    figures.record(&name, faults, DONE);
}

/// The exit status; none where a signal ended the command. What it said is told where it failed.
fn status(figures: &mut Figures<'_>, ended: &external::Ended) -> f64 {
    if !ended.status.success() {
        figures.progress(format_args!("{}{}", ended.out, ended.err));
    }
    ended.status.code().map_or(f64::NAN, f64::from)
}
