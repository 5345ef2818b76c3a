//! Decisions of the gate in half precision, many at once, against those in full precision, one by one.

use std::{path::Path, sync::Arc, time::Duration};

use futures::{executor::block_on, future::try_join_all};
use journeyman::{
    Seed,
    agent::ChatFormat,
    contract::{LanguageModel, PromptFormat, ScoreRequest, Scorer},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use journeyman_toolworld::stream::{Universe, UniverseSpec};

use crate::{
    figures::{Bound, Figures, Outcome},
    main_job::library,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(super) const DECISIONS: usize = 1_000;
/// Decisions in one world.
const OF_A_WORLD: usize = 50;
const CANDIDATES: usize = 10;
/// The gate's threshold, in nats.
const ABSOLUTE: f64 = 5.0;

pub(super) fn record(figures: &mut Figures<'_>, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let (count, worst): (usize, f64) = figures.once("half against full precision", || {
        let half = LlamaCpp::load(LlamaConfig::new(path))?;
        let half = decisions(&half, seed, DECISIONS)?;
        let full = LlamaCpp::load(LlamaConfig::new(path).exact())?;
        Ok(differ(&half, &decisions(&full, seed, DECISIONS)?))
    })?;
    figures.record(
        "bundled model: decisions that differ in half precision, of 1,000",
        count as f64,
        Bound::AtMost(10.0),
    );
    figures.record(
        "bundled model: greatest difference of a best score in half precision, nats",
        worst,
        Bound::None,
    );
    Ok(())
}

/// For a task the candidate that is injected, if any, and the best score.
pub(super) type Decided = (Option<usize>, f64);

/// How many decisions differ, and by how much a best score does at most.
pub(super) fn differ(one: &[Decided], other: &[Decided]) -> (usize, f64) {
    let pairs = || one.iter().zip(other);
    let differ = pairs().filter(|(one, other)| one.0 != other.0).count();
    let worst = pairs().map(|(one, other)| (one.1 - other.1).abs());
    (differ, worst.fold(0.0, f64::max))
}

/// The decisions on so many tasks, a multiple of those of a world.
pub(super) fn decisions(
    model: &Arc<LlamaCpp>,
    seed: Seed,
    count: usize,
) -> Result<Vec<Decided>, Failure> {
    let prompt_format = ChatFormat::of(model.capabilities());
    let mut all = Vec::with_capacity(count);
    for world in 0..(count / OF_A_WORLD) as u64 {
        let universe = Universe::make(UniverseSpec::default(), seed.derive("world", world).0)?;
        let skills = library::true_skills(&universe)?;
        let texts: Vec<String> = skills
            .iter()
            .take(CANDIDATES)
            .map(|skill| prompt_format.skill_text(skill))
            .collect();
        let ask = |query: String| {
            ScoreRequest::new(prompt_format.score_prompt(&query), texts.clone())
                .with_time_limit(Duration::from_secs(600))
        };
        let sums = async |query: String| -> journeyman::Result<Vec<f64>> {
            let scores = model.score(&ask(query)).await?;
            Ok(scores.iter().map(|score| score.sum()).collect())
        };
        let alone = block_on(sums(String::new()))?;
        let queries = universe.stream(OF_A_WORLD);
        let behind = queries.iter().map(|task| sums(task.world.query.clone()));
        for sums in block_on(try_join_all(behind))? {
            let pmi = sums
                .iter()
                .zip(&alone)
                .map(|(with, without)| with - without);
            let best = pmi.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            let (best, score) = best.ok_or("there are no candidates")?;
            all.push(((score > ABSOLUTE).then_some(best), score));
        }
    }
    Ok(all)
}
