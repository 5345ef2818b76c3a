//! Scoring behind a shared prefix against one pass for each candidate, on weights in full precision.

use std::time::Duration;

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer};
use shapes::Quantization;

use crate::{Bench, bare::Bare, prompt, scoring::apart, text};

const QUERY: usize = 200;
const CANDIDATES: u64 = 5;
const TOKENS: usize = 48;

pub(crate) fn run(bench: &mut Bench) {
    let path = Bench::shape(Quantization::F32);
    let engine = bench.engine_of(&path);
    let request = ScoreRequest {
        prompt: prompt(text(bench.seed, 91, QUERY)),
        continuations: (0..CANDIDATES)
            .map(|n| text(bench.seed, 2000 + n, TOKENS))
            .collect(),
        max_continuation_tokens: 128,
        time_limit: Duration::from_secs(3600),
        adapter: None,
    };
    let asked = GenerateRequest::greedy(request.prompt.clone(), 0);
    let ids = block_on(engine.generate(&asked)).unwrap().prompt_ids;
    let scores = block_on(engine.score(&request)).unwrap();
    drop(engine);
    let bare = Bare::load(&path);
    let worst = scores
        .iter()
        .map(|score| apart(&score.logprobs, &bare.score(&ids, &score.ids)))
        .fold(0.0, f64::max);
    bench.record(
        "0.5B shape, F32: greatest difference from one-by-one scoring, a token",
        worst,
        "<= 0.001",
    );
}
