//! Scoring behind a shared prefix against one pass for each candidate, on weights in full precision and in eight bits.

use std::time::Duration;

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer};
use shapes::Quantization;

use crate::{
    Bench,
    bare::Bare,
    prompt,
    scoring::{apart, separate},
    text,
};

const QUERY: usize = 200;
const CANDIDATES: u64 = 5;
const TOKENS: usize = 48;

/// Tokens of another sequence that lies in memory first.
const OTHER: usize = 37;

pub(crate) fn run(bench: &mut Bench) {
    let (worst, itself) = compare(bench, Quantization::F32);
    bench.record(
        "0.5B shape, F32: greatest difference from one-by-one scoring, a token",
        worst,
        "<= 0.001",
    );
    bench.record(
        "0.5B shape, F32: of one-by-one scoring from itself, beside another sequence",
        itself,
        "none",
    );
    // Where a token's cell lies changes a sum in its last place. Activations are rounded to eight bits: now and then one
    // tips over, and from that token on the sequence differs.
    let (worst, itself) = compare(bench, Quantization::Q8_0);
    bench.record(
        "0.5B shape, Q8_0: greatest difference from one-by-one scoring, a token",
        worst,
        "none",
    );
    bench.record(
        "0.5B shape, Q8_0: of one-by-one scoring from itself, beside another sequence",
        itself,
        "none",
    );
}

/// How far the engine is from one-by-one scoring, and how far that is from itself beside another sequence.
fn compare(bench: &Bench, quantization: Quantization) -> (f64, f64) {
    let path = Bench::shape(quantization);
    let engine = bench.engine_of(&path);
    let request = ScoreRequest::new(
        prompt(text(bench.seed, 91, QUERY)),
        (0..CANDIDATES)
            .map(|n| text(bench.seed, 2000 + n, TOKENS))
            .collect(),
    )
    .with_time_limit(Duration::from_secs(3600));
    let asked = GenerateRequest::greedy(request.prompt.clone(), 0);
    let ids = block_on(engine.generate(&asked)).unwrap().prompt_ids;
    let scores = block_on(engine.score(&request)).unwrap();
    drop(engine);
    let bare = Bare::load(&path);
    let mut context = bare.context(1024, 512, bench.threads as i32);
    let texts: Vec<&[i32]> = scores.iter().map(|score| score.ids.as_slice()).collect();
    let alone = separate(&mut context, &[], &ids, &texts);
    let beside = separate(&mut context, &ids[..OTHER], &ids, &texts);
    let worst = scores
        .iter()
        .zip(&alone)
        .map(|(score, alone)| apart(&score.logprobs, alone))
        .fold(0.0, f64::max);
    let itself = alone
        .iter()
        .zip(&beside)
        .map(|(alone, beside)| apart(alone, beside))
        .fold(0.0, f64::max);
    (worst, itself)
}
