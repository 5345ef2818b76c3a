//! The text encoder of `tests/lab/encoder` through `adapters/fastembed`, and hybrid retrieval against BM25 alone.

use std::{collections::BTreeSet, env, fs, path::PathBuf, sync::Arc};

use encoder::{Case, Grid, Part, cases};
use futures::executor::block_on;
use journeyman::{
    Error, Result, SkillId,
    agent::{HybridRetriever, VectorRetriever},
    contract::{Embedder, Retriever},
    domain::{Origin, Query, Skill},
    stations::retrieve::Fusion,
};
use journeyman_fastembed::{FastEmbedder, FastEmbedderConfig, Pooling};
use journeyman_tantivy::{Bm25Retriever, Config};
use journeyman_toolworld::seed::Draws;
use serde::Deserialize;

use crate::{
    figures::{
        Bound, Figures, Outcome,
        stats::{self, Interval},
    },
    skills::{admitted, whole},
    source::repository,
};

/// Held-out cases of a seed.
const CASES: usize = 600;
const RESAMPLES: usize = 4000;
const DIFFERENCE: &str = "embeddings less PyTorch's: largest difference";
const FUSIONS: [&str; 2] = ["ranks", "weights"];
/// The least gain in other words, and the greatest loss in the skills' own words, in points.
const GAIN: Bound = Bound::Above(0.0);
const LOSS: Bound = Bound::Above(-2.0);
pub(crate) const MISSING: &str =
    "ORT_DYLIB_PATH is not set; run: export ORT_DYLIB_PATH=$(bash tests/adapters/fastembed.sh)";

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let model = fs::metadata(folder().join("model.onnx"))?;
    let size = model.len() as f64 / 1e6;
    figures.record("text encoder: size in MB", size, Bound::AtMost(4.0));
    let Some(embedder) = encoder()? else {
        figures.progress(format_args!("missing: {MISSING}"));
        figures.record(DIFFERENCE, f64::NAN, Bound::AtMost(1e-4));
        for fusion in FUSIONS {
            for (words, bound) in [("other words", GAIN), ("own words", LOSS)] {
                figures.record(&format!("{}.low", title(words, fusion)), f64::NAN, bound);
            }
        }
        return Ok(());
    };
    let difference = difference(&*embedder)?;
    figures.record(DIFFERENCE, difference, Bound::AtMost(1e-4));
    compare(figures, embedder)
}

fn title(words: &str, fusion: &str) -> String {
    format!("{words}: hybrid by {fusion} less BM25, points")
}

fn folder() -> PathBuf {
    repository().join("tests/lab/encoder/model")
}

/// The laboratory's encoder; `None` where ONNX Runtime is not at hand ([`MISSING`]).
pub(crate) fn encoder() -> Result<Option<Arc<FastEmbedder>>> {
    if env::var_os("ORT_DYLIB_PATH").is_none() {
        return Ok(None);
    }
    let config = FastEmbedderConfig::new(folder(), Pooling::Mean);
    FastEmbedder::load(config).map(Some)
}

/// A line of `embedded.jsonl`: what PyTorch itself gives.
#[derive(Deserialize)]
struct Embedded {
    text: String,
    vector: Vec<f64>,
}

/// The largest difference of a component from PyTorch's.
fn difference(embedder: &dyn Embedder) -> Result<f64, Box<dyn std::error::Error + Send + Sync>> {
    let mut largest: f64 = 0.0;
    for line in fs::read_to_string(folder().join("embedded.jsonl"))?.lines() {
        let due: Embedded = serde_json::from_str(line)?;
        let found = block_on(embedder.embed(&[due.text.as_str()]))?.remove(0);
        if found.components().len() != due.vector.len() {
            return Ok(f64::NAN);
        }
        for (found, due) in found.components().iter().zip(&due.vector) {
            largest = largest.max((f64::from(*found) - due).abs());
        }
    }
    Ok(largest)
}

/// Which cases have the right skill first, in the order of the cases, as 0 and 100.
struct Firsts {
    own_words: Vec<f64>,
    other_words: Vec<f64>,
}

fn compare(figures: &mut Figures<'_>, embedder: Arc<FastEmbedder>) -> Outcome {
    let seed = figures.options().seed;
    let grid = Grid::draw(&mut Draws::new("retrieval", &[seed.0]));
    let cases = cases(Part::HeldOut, &grid, CASES, seed.0)?;
    let skills = library(&cases)?;
    figures.record("skills in the library", skills.len() as f64, Bound::None);
    let clusters: Vec<String> = cases.iter().map(|case| case.tool.to_string()).collect();

    let bm25: Arc<dyn Retriever> = Arc::new(Bm25Retriever::new(Config::default())?);
    let dense: Arc<dyn Retriever> = Arc::new(VectorRetriever::new(embedder));
    let hybrid = |fusion| HybridRetriever::new(Arc::clone(&bm25), Arc::clone(&dense), fusion);
    let (ranks, weighted) = (
        hybrid(Fusion::ReciprocalRank { k: 60.0 })?,
        hybrid(Fusion::default())?,
    );
    block_on(ranks.refresh(&whole(skills)))?;
    let [words, meaning, ranks, weighted] =
        [&*bm25, &*dense, &ranks, &weighted].map(|retriever| firsts(retriever, &cases));
    let (words, meaning, ranks, weighted) = (words?, meaning?, ranks?, weighted?);

    let draws = seed.derive("retrieval", 0);
    let against = |before: &[f64], after: &[f64]| -> Result<Interval, String> {
        stats::clustered(before, after, &clusters, draws, RESAMPLES)
    };
    for (name, found) in [
        ("BM25", &words),
        ("dense", &meaning),
        ("hybrid by weights", &weighted),
        ("hybrid by ranks", &ranks),
    ] {
        let (own, other) = (
            stats::mean(&found.own_words),
            stats::mean(&found.other_words),
        );
        figures.record(
            &format!("own words: {name}: right skill first, %"),
            own,
            Bound::None,
        );
        figures.record(
            &format!("other words: {name}: right skill first, %"),
            other,
            Bound::None,
        );
    }
    for (fusion, found) in FUSIONS.into_iter().zip([&ranks, &weighted]) {
        let other = against(&words.other_words, &found.other_words)?;
        let own = against(&words.own_words, &found.own_words)?;
        figures.interval(&title("other words", fusion), &other, GAIN, Bound::None);
        figures.interval(&title("own words", fusion), &own, LOSS, Bound::None);
    }
    Ok(())
}

/// The first skill of each tool.
fn library(cases: &[Case]) -> Result<Vec<Skill>> {
    let mut known = BTreeSet::new();
    let firsts = cases.iter().filter(|case| known.insert(&case.tool));
    firsts
        .map(|case| admitted(&case.skill, id(case), Origin::Seed))
        .collect()
}

fn id(case: &Case) -> SkillId {
    SkillId::new(format!("{}-{}", case.tool.verb, case.tool.noun))
}

fn firsts(retriever: &dyn Retriever, cases: &[Case]) -> Result<Firsts> {
    let first = |case: &Case, text: &str| -> Result<f64> {
        let query = Query::new(text.to_owned(), 1);
        let found = block_on(retriever.search(&query))?;
        let is_right = found
            .first()
            .is_some_and(|first| first.skill.id == id(case));
        Ok(if is_right { 100.0 } else { 0.0 })
    };
    Ok(Firsts {
        own_words: cases
            .iter()
            .map(|case| first(case, &case.own_words))
            .collect::<Result<_, Error>>()?,
        other_words: cases
            .iter()
            .map(|case| first(case, &case.other_words))
            .collect::<Result<_, Error>>()?,
    })
}
