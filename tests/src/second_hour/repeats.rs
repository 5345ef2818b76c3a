//! Frozen evaluations of one library by a real model, each beside other work: whether any decision differs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Seed,
    agent::{ChatFormat, MemoryStore},
    contract::{GenerateRequest, LanguageModel, PromptFormat, ScoreRequest, Scorer},
    domain::Decision,
    run::{Options, report::RunReport},
    stations::select::GatePolicy,
};
use journeyman_disk::read_skills;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, PublicModel};
use serde::{Deserialize, Serialize};
use shop::desk::tasks;

use super::{Failure, by_a_person, open_with};
use crate::figures::{Bound, Figures, Outcome};

/// How often the library is evaluated.
const REPEATS: usize = 10;
/// Tasks of an evaluation.
const TASKS: u64 = 9;

/// What the repeats came to.
#[derive(Serialize, Deserialize)]
struct Repeated {
    decisions: usize,
    differ: usize,
    injected: usize,
    undecided: usize,
    /// The largest difference of a score of one task and skill between two repeats, in nats.
    noise: f64,
}

pub(super) fn record(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let found: Repeated = figures.once("ten frozen evaluations beside load", || {
        block_on(repeated(seed))
    })?;
    figures.record(
        "ten frozen evaluations beside load, SmolLM2: decisions",
        found.decisions as f64,
        Bound::AtLeast(REPEATS as f64 * TASKS as f64),
    );
    figures.record(
        "ten frozen evaluations beside load, SmolLM2: decisions that differ",
        found.differ as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "ten frozen evaluations beside load, SmolLM2: decisions that were not made",
        found.undecided as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "ten frozen evaluations beside load, SmolLM2: skills given, %",
        100.0 * found.injected as f64 / found.decisions as f64,
        Bound::None,
    );
    figures.record(
        "ten frozen evaluations beside load, SmolLM2: largest difference of a score, nats",
        found.noise,
        Bound::AtMost(0.5),
    );
    Ok(())
}

async fn repeated(seed: Seed) -> Result<Repeated, Failure> {
    let path = PublicModel::named("smollm2")
        .ok_or("smollm2 is not known")?
        .fetch(&mut |_| {})?;
    let model = LlamaCpp::load(LlamaConfig::new(path))?;
    let store = Arc::new(MemoryStore::new());
    let parts = shop::parts(model.clone())?.with_store(store.clone());
    // Right among the scores, so that many decisions are near.
    let mut recipe = journeyman::recipe::standard();
    let mut gate = GatePolicy::default();
    gate.absolute = Some(THRESHOLD);
    recipe.select.selector = gate.into();
    let host = open_with(&parts, recipe.clone(), Options::new("host", seed)).await?;
    let skills = read_skills(by_a_person(), store.as_ref()).await?;
    host.add(skills, "by a person").await?;
    let frozen = Options::new("frozen", seed).read_only();
    let frozen = open_with(&parts, recipe, frozen).await?;
    let mut reports = Vec::new();
    for number in 0..REPEATS {
        // None, one and two other users of the model.
        let load = Load::start(&model, seed.derive("load", number as u64), number % 3);
        reports.push(frozen.evaluate(tasks(seed, TASKS, true)).await?);
        drop(load);
    }
    Ok(compared(&reports))
}

/// Nats of PMI that a skill has to exceed: among the values of SmolLM2 for right and wrong skills.
const THRESHOLD: f64 = 14.0;

fn compared(reports: &[RunReport]) -> Repeated {
    let mut found = Repeated {
        decisions: 0,
        differ: 0,
        injected: 0,
        undecided: 0,
        noise: 0.0,
    };
    let mut first: BTreeMap<String, Decision> = BTreeMap::new();
    let mut ranges: BTreeMap<(String, String), (f64, f64)> = BTreeMap::new();
    for task in reports.iter().flat_map(|report| &report.tasks) {
        for selection in &task.selections {
            let id = task.task.to_string();
            found.decisions += 1;
            found.injected += usize::from(selection.skill().is_some());
            found.undecided += usize::from(selection.fault().is_some());
            let known = first
                .entry(id.clone())
                .or_insert_with(|| plain(&selection.decision));
            found.differ += usize::from(*known != plain(&selection.decision));
            for scored in &selection.candidates {
                let key = (id.clone(), scored.skill.to_string());
                let range = ranges.entry(key).or_insert((scored.value, scored.value));
                *range = (range.0.min(scored.value), range.1.max(scored.value));
            }
        }
    }
    found.noise = ranges
        .values()
        .map(|(low, high)| high - low)
        .fold(0.0, f64::max);
    found
}

/// What was decided, without the values in a refusal.
fn plain(decision: &Decision) -> Decision {
    match decision {
        Decision::Inject { .. } => decision.clone(),
        _ => Decision::Nothing(journeyman::domain::NothingReason::Disabled),
    }
}

/// Other users of the model, each on a thread, until it is dropped.
struct Load {
    stop: Arc<AtomicBool>,
    users: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn start(model: &Arc<LlamaCpp>, seed: Seed, users: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let user = |number: usize| {
            let (model, stop) = (Arc::clone(model), Arc::clone(&stop));
            let seed = seed.derive("user", number as u64);
            thread::spawn(move || {
                let mut round = 0;
                while !stop.load(Ordering::Relaxed) {
                    round += 1;
                    let words = tasks(seed.derive("round", round), 3, false);
                    let text = words.iter().map(|task| task.instruction.as_str());
                    let text: Vec<&str> = text.collect();
                    // What it says is of no interest, only that it runs beside.
                    let _ = block_on(work(&model, &text, number.is_multiple_of(2)));
                }
            })
        };
        let users = (0..users).map(user).collect();
        Self { stop, users }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for user in self.users.drain(..) {
            // A user that failed is told by nothing but its absence.
            let _ = user.join();
        }
    }
}

async fn work(model: &LlamaCpp, text: &[&str], writes: bool) -> journeyman::Result<()> {
    let prompt = ChatFormat::default().score_prompt(&text.join("\n"));
    if writes {
        let request = GenerateRequest::greedy(prompt, 40)
            .edited(|it| it.time_limit = Duration::from_secs(60));
        model.generate(&request).await?;
        return Ok(());
    }
    let request = ScoreRequest::new(prompt, text.iter().map(|text| (*text).to_owned()).collect())
        .with_max_continuation_tokens(64);
    model.score(&request).await?;
    Ok(())
}
