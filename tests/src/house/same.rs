//! The same bytes: what runs leave now, beside what they left before our maintenance programs took the door of a host's own.
//!
//! `recorded.json` was written from the code of that day. A digest is of the JSON of the value, after the fields that were
//! renamed since have their former names again ([`RENAMED`]), and without those that were added ([`ADDED`]).

use std::{
    collections::BTreeMap,
    fs,
    num::NonZeroU64,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::{MemoryJournal, MemoryStore},
    contract::{Journal, LanguageModel},
    domain::sha256_hex,
    papers::arise::GainsPolicy,
    policy::PolicyOptions,
    recipe::{self, Recipe},
    run::{self, report::RunReport},
};
use quickstart::{Parts, default_model, spoken};
use serde::Serialize;
use serde_json::Value;

use crate::{
    figures::{Bound, Figures, Outcome},
    recipes::noisy::universe_of,
    source::repository,
};

/// What was left, by name, as digests.
type Digests = BTreeMap<String, String>;

const RECORDED: &str = include_str!("recorded.json");
/// Fields by their names now, each with its former name.
const RENAMED: [(&str, &str); 0] = [];
/// Fields of reports that did not exist when the digests were recorded. They are not compared.
const ADDED: [&str; 3] = ["failed_usage", "pool", "duplicate"];
/// The end of the key of a commit of measurements, now and before: commits are numbered by a program's place in the recipe's list
/// since all programs of maintenance are in one.
const MEASURED: (&str, &str) = ("/m0\"", "/m2\"");
/// The seeds of the quickstart.
const SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 100];
const STEPS: usize = 8;
/// Tasks of a recipe's world, and how many of them make a run.
const TASKS: usize = 50;
const PART: usize = 10;
/// Tools with a hidden contract of that world, as the digests were recorded.
const HIDDEN: usize = 16;

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let recorded: Digests = serde_json::from_str(RECORDED)?;
    let out = figures.options().out.join("house");
    let mut now = Digests::new();
    for seed in SEEDS {
        figures.progress(format_args!("quickstart, seed {seed}"));
        let folder = out.join(format!("quickstart-{seed}"));
        now.extend(quickstart(&repository(), &folder, seed)?);
    }
    let parts = Parts::deterministic(&default_model(), STEPS)?;
    figures.subject("model", parts.model.capabilities().model.as_str());
    for (name, recipe) in recipes() {
        figures.progress(format_args!("a world of {name}"));
        now.extend(block_on(world(&parts, name, recipe))?);
    }
    fs::create_dir_all(&out)?;
    fs::write(out.join("same.json"), serde_json::to_string_pretty(&now)?)?;
    let mut other = 0;
    for (name, digest) in &recorded {
        if now.get(name) != Some(digest) {
            figures.progress(format_args!("not the same: {name}"));
            other += 1;
        }
    }
    figures.record(
        "same bytes: compared",
        recorded.len() as f64,
        Bound::AtLeast(24.0),
    );
    figures.record("same bytes: others", f64::from(other), Bound::AtMost(0.0));
    figures.record(
        "same bytes: fields renamed",
        RENAMED.len() as f64,
        Bound::None,
    );
    Ok(())
}

/// The recipes, with ARISE's warm-up short enough that something is injected, and its steps of one task as they were
/// recorded.
fn recipes() -> [(&'static str, Recipe); 4] {
    let mut arise = recipe::arise();
    arise.batch = NonZeroU64::MIN;
    arise.attempts.warm_up = 10;
    let twenty = const { NonZeroU64::new(20).expect("not 0") };
    arise.maintenance.every(GainsPolicy::NAME, twenty);
    let mut turns = recipe::hisme_robust();
    turns.select.per = journeyman::stations::select::SelectPer::Turn;
    [
        ("standard", recipe::standard()),
        ("arise", arise),
        ("hisme", recipe::hisme_robust()),
        ("hisme, skills each turn", turns),
    ]
}

/// What the quickstart prints as JSON, and the skill folders that it leaves.
fn quickstart(
    root: &Path,
    folder: &Path,
    seed: u64,
) -> std::result::Result<Digests, Box<dyn std::error::Error + Send + Sync>> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let output = Command::new("bash")
        .arg("examples/quickstart.sh")
        .arg("--deterministic")
        .args(["--json", "--seed", &seed.to_string(), "--out"])
        .arg(folder)
        .current_dir(root)
        .stderr(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(format!("the quickstart failed at seed {seed}: {}", output.status).into());
    }
    let mut json: Value = serde_json::from_slice(&output.stdout)?;
    // Where the folder lies is not what is compared.
    if let Some(object) = json.as_object_mut() {
        object.retain(|_, value| {
            value
                .as_str()
                .is_none_or(|text| !text.contains("quickstart-"))
        });
    }
    let mut files = BTreeMap::new();
    read(&folder.join("skills"), folder, &mut files)?;
    Ok(Digests::from([
        (format!("quickstart, seed {seed}, JSON"), digest(&json)?),
        (format!("quickstart, seed {seed}, skills"), digest(&files)?),
    ]))
}

/// The files below a folder, by their paths from `base`.
fn read(folder: &Path, base: &Path, files: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(&path, base, files)?;
        } else {
            let name = path
                .strip_prefix(base)
                .unwrap_or(&path)
                .display()
                .to_string();
            files.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// The library and the reports of a recipe's world, and what its journal gives when it is replayed.
async fn world(parts: &Parts, name: &str, recipe: Recipe) -> Result<Digests> {
    let universe = universe_of(HIDDEN, Seed(100), 0)?;
    let stream = universe.stream(TASKS);
    let journal = Arc::new(MemoryJournal::new());
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts
        .open(recipe, "same", Seed(100), store, Some(journal.clone()))
        .await?;
    let mut reports: Vec<RunReport> = Vec::new();
    let mut replayed = Vec::new();
    for part in stream.chunks(PART) {
        let report = journeyman.learn(spoken::tasks(part, Seed(100))?).await?;
        let machine = run::replay(
            &journal.read(&report.run).await?,
            &journeyman::policy::Policies::new(),
        )?;
        replayed.push((machine.library().clone(), machine.report().tasks));
        reports.push(report);
    }
    let library = journeyman.library().await?;
    let tasks: Vec<_> = reports.iter().map(|report| &report.tasks).collect();
    // ARISE has no other program.
    let numbered = |text: String| match name {
        "arise" => text.replace(MEASURED.0, MEASURED.1),
        _ => text,
    };
    Ok(Digests::from([
        (format!("{name}, library"), digest_of(&library, numbered)?),
        (format!("{name}, reports"), digest(&tasks)?),
        (format!("{name}, replayed"), digest_of(&replayed, numbered)?),
    ]))
}

fn digest(value: &impl Serialize) -> Result<String> {
    digest_of(value, |text| text)
}

/// The digest of the JSON text, as `former` gives it back its form of before.
fn digest_of(value: &impl Serialize, former: impl Fn(String) -> String) -> Result<String> {
    let fault = |error: serde_json::Error| {
        journeyman::Error::invalid("house", format!("a value is no JSON: {error}"))
    };
    let mut value = serde_json::to_value(value).map_err(fault)?;
    rename(&mut value);
    Ok(sha256_hex(former(value.to_string())))
}

/// Gives fields their former names, and takes those away that were added.
fn rename(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(rename),
        Value::Object(fields) => {
            for (now, former) in RENAMED {
                if let Some(value) = fields.remove(now) {
                    fields.insert(former.to_owned(), value);
                }
            }
            fields.retain(|name, _| !ADDED.contains(&name.as_str()));
            fields.values_mut().for_each(rename);
        }
        _ => {}
    }
}
