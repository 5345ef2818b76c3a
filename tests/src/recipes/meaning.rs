//! Learning runs with a real sentence encoder (all-MiniLM-L6-v2) beside the same without one: where recipes compare meanings.
//!
//! SCRIBE clusters subgoals by embeddings (row C2), HiSME has meaning as a part of its overlap graph (H2) and of its ranking at each
//! turn (H12), and SkillRL selects a category's skills by similarity (R3). Without an encoder they compare words.

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    async_trait,
    contract::{Embedder, Embedding, EmbeddingSpace},
    papers::{
        scribe::AssessPolicy,
        skillrl::{BankPolicy, Failure},
    },
    recipe::{self, Recipe},
    run::Journeyman,
    stations::select::SelectPer,
};
use journeyman_fastembed::FastEmbedder;
use journeyman_toolworld::stream::{Universe, UniverseSpec};
use quickstart::{Parts, Summaries, spoken};
use serde::{Deserialize, Serialize};

use super::{STEPS, key};
use crate::{
    figures::{Bound, Figures, Outcome, attempted, recalling},
    gate::encoder,
};

/// Four tasks of each of five services, and as many held-out tasks as a share has of steps of four points.
const STREAM: usize = 20;
const HELD_OUT: usize = 24;
/// Tasks between two clusterings, and of a round of a bank.
const TEN: NonZeroU64 = NonZeroU64::new(10).expect("not 0");

/// The encoder, and how many texts it was given.
#[derive(Debug)]
struct Counted(Arc<FastEmbedder>, AtomicUsize);

#[async_trait]
impl Embedder for Counted {
    fn space(&self) -> &EmbeddingSpace {
        self.0.space()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        self.1.fetch_add(texts.len(), Ordering::Relaxed);
        self.0.embed(texts).await
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Cell {
    /// Held-out tasks done before and after learning, shares.
    before: f64,
    after: f64,
    /// Those done without a refusal.
    at_once_before: f64,
    at_once_after: f64,
    skills: usize,
    prototypes: usize,
    /// Texts that the encoder was given.
    embedded: usize,
    /// Attempts that a part's fault ended.
    faults: usize,
}

fn recipes() -> [(&'static str, Recipe); 3] {
    let mut scribe = recipe::scribe();
    let mut assess = AssessPolicy::default();
    assess.first = TEN;
    assess.refresh = TEN;
    assess.anchors = None;
    scribe.assess = Some(assess.into());
    scribe.attempts.group = std::num::NonZeroU32::MIN;
    let mut hisme = recipe::hisme_robust();
    hisme.select.per = SelectPer::Turn;
    let mut skillrl = recipe::skillrl();
    skillrl.maintenance.edit(|bank: &mut BankPolicy| {
        bank.round = TEN;
        // The agent recovers: without its refusals there is nothing to learn from.
        bank.failure = Failure::Refusal;
    });
    skillrl.attempts.group = std::num::NonZeroU32::MIN;
    [("SCRIBE", scribe), ("HiSME", hisme), ("SkillRL", skillrl)]
}

/// Measures and records.
pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    let Some(encoder) = encoder(figures)? else {
        return Err("set ORT_DYLIB_PATH: this compares with an encoder".into());
    };
    let seed = figures.options().seed;
    for (name, recipe) in recipes() {
        let parts = recalling(&parts)?;
        let mut cells = Vec::new();
        for with in [true, false] {
            let encoder = with.then(|| encoder.clone());
            let what = if with { "with" } else { "without" };
            let key = key(&parts, &format!("meaning, {name}, {what} an encoder"));
            cells.push(figures.once(&key, || {
                Ok(block_on(cell(&parts, seed, recipe.clone(), encoder))?)
            })?);
        }
        let [with, without] = cells.as_slice() else {
            continue;
        };
        record(figures, name, with, without);
    }
    Ok(())
}

fn record(figures: &mut Figures<'_>, name: &str, with: &Cell, without: &Cell) {
    let percent = |share: f64| 100.0 * share;
    let mut row = |what: &str, value: f64, bound: Bound| {
        figures.record(&format!("{name}, {what}"), value, bound);
    };
    row("done before, %", percent(with.before), Bound::None);
    row(
        "done after with MiniLM, %",
        percent(with.after),
        Bound::None,
    );
    row("done after without, %", percent(without.after), Bound::None);
    let over = percent(with.after - without.after);
    row(
        "with MiniLM over without, points",
        over,
        Bound::AtLeast(-10.0),
    );
    row(
        "at once before, %",
        percent(with.at_once_before),
        Bound::None,
    );
    row(
        "at once after with MiniLM, %",
        percent(with.at_once_after),
        Bound::None,
    );
    row(
        "at once after without, %",
        percent(without.at_once_after),
        Bound::None,
    );
    let over = percent(with.at_once_after - without.at_once_after);
    row(
        "at once with MiniLM over without, points",
        over,
        Bound::AtLeast(-10.0),
    );
    row(
        "texts that MiniLM embedded",
        with.embedded as f64,
        Bound::AtLeast(1.0),
    );
    row("skills with MiniLM", with.skills as f64, Bound::None);
    row("skills without", without.skills as f64, Bound::None);
    row(
        "prototypes with MiniLM",
        with.prototypes as f64,
        Bound::None,
    );
    row("prototypes without", without.prototypes as f64, Bound::None);
    let faults = (with.faults + without.faults) as f64;
    row("attempts ended by a fault", faults, Bound::AtMost(0.0));
}

async fn cell(
    parts: &Parts,
    seed: Seed,
    recipe: Recipe,
    encoder: Option<Arc<FastEmbedder>>,
) -> Result<Cell> {
    let universe = Universe::make(UniverseSpec::of(4, 1), seed.0)?;
    let stream = universe.stream(STREAM);
    let held_out = spoken::tasks(&universe.held_out(&stream, HELD_OUT), seed)?;
    let tasks = spoken::tasks(&stream, seed)?;
    let mut components = parts.components(Arc::new(MemoryStore::new()), None)?;
    let counted = encoder.map(|encoder| Arc::new(Counted(encoder, AtomicUsize::new(0))));
    components.embedder = counted.clone().map(|one| one as Arc<dyn Embedder>);
    let options = parts.options("meaning", seed);
    let journeyman = Journeyman::open(components, recipe, options).await?;
    let faults = |report: &journeyman::run::report::RunReport| {
        let attempts = report.tasks.iter().flat_map(|task| &task.attempts);
        attempts.filter(|attempt| attempt.error.is_some()).count()
    };
    let before = journeyman.evaluate(held_out.clone()).await?;
    let learned = journeyman.learn(tasks).await?;
    let after = journeyman.evaluate(held_out).await?;
    let library = journeyman.library().await?;
    let came_before = Summaries::of(attempted(&before)?).all;
    let came_after = Summaries::of(attempted(&after)?).all;
    Ok(Cell {
        before: came_before.success,
        after: came_after.success,
        at_once_before: came_before.first_attempt_success,
        at_once_after: came_after.first_attempt_success,
        skills: library.cache().count(),
        prototypes: library.prototypes().len(),
        embedded: counted.map_or(0, |one| one.1.load(Ordering::Relaxed)),
        faults: faults(&before) + faults(&learned) + faults(&after),
    })
}
