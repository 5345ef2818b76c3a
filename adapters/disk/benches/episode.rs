//! Journeyman's own time for an episode with a library on disk, without the model: beside one bare sync, in turns in one run.
//! `cargo bench -p journeyman-disk --bench episode`. The last lines are figures: name, value, bound, `ok` or `short`.
//!
//! Agent, world and scorer answer at once, so that what is left is the choice among the pool, the gate, the run's machine, credit
//! and the commit. The store is durable: a task that was learned from is on disk before the next begins. With a journal on disk
//! too, an episode takes at most three bare syncs and 1 ms.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

#[path = "../../../tests/src/figures/median.rs"]
mod median;

use std::{
    fs::{self, File},
    io::Write,
    num::NonZeroU32,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures::executor::block_on;
use journeyman::{
    ModelId, Seed,
    agent::EnvironmentJudge,
    contract::{Attempt, Components, ScoreRequest, Scorer, TokenScores},
    domain::{Action, Step, Task},
    recipe,
    run::{Journeyman, Options},
    stations::{propose::WriteWhen, select::Candidates},
    testing::{Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, sample},
};
use journeyman_disk::{DiskOptions, DiskStore};

/// Skills of the library.
const SKILLS: usize = 200;
const ROUNDS: usize = 11;
const EPISODES: usize = 40;
/// What a bare sync makes durable: about as much as a commit.
const BYTES: usize = 2048;

/// The agent says what is due.
fn agent() -> ScriptedExecutor {
    ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
        let words: Vec<String> = serde_json::from_value(attempt.task.payload.clone()).unwrap();
        Play::Give(words.get(steps.len()).cloned().map(Action::Message))
    })
}

/// The task makes every skill likelier, so that one is injected and credited each time. It reads one word of the prompt, so
/// that what it computes is not counted as ours.
#[derive(Debug)]
struct Likelier(ModelId);

#[async_trait]
impl Scorer for Likelier {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn score(&self, request: &ScoreRequest) -> journeyman::Result<Vec<TokenScores>> {
        let logprob = if request.prompt.text().contains("say") {
            -0.5
        } else {
            -4.0
        };
        let scores = TokenScores::new(vec![1, 1], vec![logprob; 2]);
        Ok(vec![scores; request.continuations.len()])
    }

    fn is_trained_to_score(&self) -> bool {
        true
    }
}

fn open(root: &Path, journalled: bool) -> Journeyman {
    let store = Arc::new(DiskStore::open(root, &DiskOptions::default()).unwrap());
    let mut components = Components::new(
        Arc::new(agent()),
        Arc::new(ScriptedEnvironment::words()),
        Arc::new(EnvironmentJudge),
    );
    if journalled {
        components.journal = Some(store.clone());
    }
    components.store = Some(store);
    components.prompt_format = Some(Arc::new(ScriptedFormat));
    components.scorer = Some(Arc::new(Likelier(ModelId::new("bench"))));
    let mut recipe = recipe::standard();
    recipe.select.candidates = Candidates::Cache;
    recipe.write.when = WriteWhen::Never;
    recipe.attempts.group = NonZeroU32::MIN;
    let opened = Journeyman::open(components, recipe, Options::new("bench", Seed(1)));
    let journeyman = block_on(opened).unwrap();
    let skills = (0..SKILLS).map(|n| sample::skill(&format!("skill-{n:03}")));
    block_on(journeyman.add(skills.collect(), "a bench")).unwrap();
    journeyman
}

fn tasks(round: usize) -> Vec<Task> {
    let task = |n| sample::task(&format!("task-{round}-{n}"), &["one", "two", "three"]);
    (0..EPISODES).map(task).collect()
}

/// What the process computed so far, all threads together.
fn processor() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks: u64 = [11, 12]
        .iter()
        .map(|at| fields[*at].parse::<u64>().unwrap())
        .sum();
    Duration::from_millis(ticks * 10)
}

fn say(name: &str, value: f64, bound: Option<f64>) -> bool {
    let ok = bound.is_none_or(|bound| value <= bound);
    let bound = bound.map_or("none".to_owned(), |bound| format!("<= {bound}"));
    println!(
        "{name}, {value:.3}, {bound}, {}",
        if ok { "ok" } else { "short" }
    );
    ok
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let journeyman = open(&folder.path().join("library"), false);
    let journalled = open(&folder.path().join("journalled"), true);
    let mut file = File::create(folder.path().join("bare")).unwrap();
    let (mut bare, mut ours, mut computed) = (Vec::new(), Vec::new(), Duration::ZERO);
    let mut noted = Vec::new();
    let mut injected = 0;
    for round in 0..=ROUNDS {
        let began = Instant::now();
        for _ in 0..EPISODES {
            file.write_all(&[7; BYTES]).unwrap();
            file.sync_data().unwrap();
        }
        let alone = began.elapsed() / EPISODES as u32;
        let (began, before) = (Instant::now(), processor());
        let report = block_on(journeyman.learn(tasks(round))).unwrap();
        // The first round fills caches, of the file system's too.
        if round > 0 {
            ours.push(began.elapsed() / EPISODES as u32);
            computed += processor() - before;
            bare.push(alone);
        }
        let began = Instant::now();
        block_on(journalled.learn(tasks(round))).unwrap();
        if round > 0 {
            noted.push(began.elapsed() / EPISODES as u32);
        }
        let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
        injected += attempts
            .filter(|attempt| !attempt.injected.is_empty())
            .count();
    }
    assert_eq!(
        injected,
        (ROUNDS + 1) * EPISODES,
        "every episode takes all stations"
    );
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let median = |all: Vec<Duration>| {
        median::median(all.into_iter().map(milliseconds).collect::<Vec<f64>>())
    };
    let computed = milliseconds(computed) / (ROUNDS * EPISODES) as f64;
    let (bare, ours) = (median(bare), median(ours));
    let noted = median(noted);
    let all = [
        say("a bare sync (ms)", bare, None),
        say("an episode beside its model (ms)", ours, None),
        say(
            "the same with a journal on disk (ms)",
            noted,
            Some(3.0 * bare + 1.0),
        ),
        say("processor time of an episode (ms)", computed, Some(1.0)),
        say("an episode beyond a bare sync (ms)", ours - bare, Some(1.0)),
        say(
            "an episode less its processor time, in bare syncs",
            (ours - computed) / bare,
            None,
        ),
    ];
    if all.contains(&false) {
        std::process::exit(1);
    }
}
