//! Ten candidates behind a query, against one pass over the same tokens and against ten separate ones.

use std::time::Duration;

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel, ScoreRequest, Scorer};
use llama_cpp_2::{context::LlamaContext, llama_batch::LlamaBatch, token::LlamaToken};

use crate::{Bench, bare::Bare, median::median, prompt, text, timed};

/// Ten passes take long.
const SEPARATE_ROUNDS: u64 = 3;
const QUERY: usize = 1000;
/// Some of the letters merge into one token.
const OPENING: usize = 820;
const CANDIDATES: usize = 10;
const TOKENS: usize = 64;

fn request(query: String, seed: u64, candidates: usize) -> ScoreRequest {
    ScoreRequest::new(
        prompt(query),
        (0..candidates as u64)
            .map(|n| text(seed, 1000 + n, TOKENS + 16))
            .collect(),
    )
    .with_max_continuation_tokens(TOKENS)
    .with_time_limit(Duration::from_secs(3600))
}

pub(crate) fn run(bench: &mut Bench, bare: &Bare) {
    let engine = bench.engine();
    let score = |request: &ScoreRequest| block_on(engine.score(request)).unwrap();
    let prompt_ids = |request: &ScoreRequest| {
        let asked = GenerateRequest::greedy(request.prompt.clone(), 0);
        block_on(engine.generate(&asked)).unwrap().prompt_ids
    };
    let mut context = bare.context(4096, 512, bench.threads as i32);
    let mut over_one_pass = Vec::new();
    let mut over_separate = Vec::new();
    let mut seconds = 0.0;
    let (mut beside, mut decoded) = (0, 0);
    for round in 0..bench.rounds as u64 {
        let request = request(
            text(bench.seed, round, QUERY),
            bench.seed + round,
            CANDIDATES,
        );
        let ids = prompt_ids(&request);
        block_on(engine.forget_prefixes()).unwrap();
        // Scored once before, so that the other side may come first.
        let scores = score(&request);
        let texts: Vec<&[i32]> = scores.iter().map(|score| score.ids.as_slice()).collect();
        assert!(texts.iter().all(|text| text.len() == TOKENS));
        block_on(engine.forget_prefixes()).unwrap();
        let mut other_side = || timed(|| one_pass(&mut context, &ids, &texts)).0;
        let first = (round % 2 == 0).then(&mut other_side);
        let before = engine.stats();
        let (ours, _) = timed(|| score(&request));
        decoded = engine.stats().decoded_tokens - before.decoded_tokens;
        beside = decoded - (ids.len() + CANDIDATES * (TOKENS - 1)) as u64;
        let one = first.unwrap_or_else(other_side);
        seconds = ours.as_secs_f64();
        over_one_pass.push(ours.as_secs_f64() / one.as_secs_f64());
        if round < SEPARATE_ROUNDS {
            let (ten, _) = timed(|| separate(&mut context, &[], &ids, &texts));
            over_separate.push(ten.as_secs_f64() / ours.as_secs_f64());
        }
    }
    bench.record(
        "scoring 10 x 64 behind 1,000: seconds, last round",
        seconds,
        "none",
    );
    bench.record(
        "scoring 10 x 64 behind 1,000: tokens decoded",
        decoded as f64,
        "none",
    );
    bench.record(
        "scoring 10 x 64 behind 1,000: time over one pass, median ratio",
        median(&mut over_one_pass),
        "<= 1.15",
    );
    bench.record(
        "scoring 10 x 64 behind 1,000: ten separate passes over it, median ratio of three",
        median(&mut over_separate),
        ">= 5",
    );
    bench.record(
        "tokens decoded beside the query and the candidates",
        beside as f64,
        "<= 0",
    );
    linear(bench);
    opening(bench);
}

/// What further candidates cost behind a query that memory holds.
fn linear(bench: &mut Bench) {
    let engine = bench.engine();
    let requests = [5_usize, 10, 20].map(|candidates| {
        let query = text(bench.seed, 77, QUERY);
        (candidates, request(query, bench.seed, candidates))
    });
    let score = |(_, request): &(usize, ScoreRequest)| block_on(engine.score(request)).unwrap();
    score(&requests[0]);
    for asked in &requests {
        let before = engine.stats();
        score(asked);
        let tokens = engine.stats().decoded_tokens - before.decoded_tokens;
        let candidates = asked.0;
        let name = format!("{candidates} candidates behind a query in memory: tokens decoded");
        // The query's last token is read again, for its logits.
        let least = 1 + candidates * (TOKENS - 1);
        bench.record(&name, tokens as f64, &format!("<= {least}"));
    }
    let mut ratios = Vec::new();
    for round in 0..bench.rounds {
        let time = |asked: &(usize, ScoreRequest)| {
            let (time, _) = timed(|| score(asked));
            time.as_secs_f64() / asked.0 as f64
        };
        let [few, _, many] = &requests;
        let first = (round % 2 == 0).then(|| time(many));
        let each_of_few = time(few);
        ratios.push(first.unwrap_or_else(|| time(many)) / each_of_few);
    }
    bench.record(
        "time a candidate, 20 over 5, median ratio",
        median(&mut ratios),
        "<= 1.15",
    );
}

/// A second query with the same opening.
fn opening(bench: &mut Bench) {
    let engine = bench.engine();
    let opening = text(bench.seed, 55, OPENING);
    let ask = |end: u64| {
        let query = format!("{opening}{}", text(bench.seed, end, QUERY - OPENING));
        let request = request(query, bench.seed, 2);
        let before = engine.stats();
        block_on(engine.score(&request)).unwrap();
        let after = engine.stats();
        let asked = GenerateRequest::greedy(request.prompt, 0);
        let ids = block_on(engine.generate(&asked)).unwrap().prompt_ids;
        (after.decoded_tokens - before.decoded_tokens, ids)
    };
    let (_, first) = ask(56);
    let (decoded, second) = ask(57);
    let common = first
        .iter()
        .zip(&second)
        .take_while(|(a, b)| a == b)
        .count();
    bench.record(
        "second query: tokens that it begins with like the first",
        common as f64,
        ">= 800",
    );
    let new = (second.len() - common + 2 * (TOKENS - 1)) as f64;
    bench.record(
        "second query: tokens of these decoded again",
        decoded as f64 - new,
        "<= 0",
    );
}

/// All distinct tokens, each once, in batches of the size that the engine has, with logits where it needs them.
fn one_pass(context: &mut LlamaContext<'_>, prompt: &[i32], texts: &[&[i32]]) {
    context.clear_kv_cache_seq(None, None, None).unwrap();
    let everybody: Vec<i32> = (0..=texts.len() as i32).collect();
    let mut batch = LlamaBatch::new(512, everybody.len() as i32);
    let mut wanted = Vec::new();
    let mut flush = |batch: &mut LlamaBatch<'_>, wanted: &mut Vec<i32>| {
        context.decode(batch).unwrap();
        for &row in wanted.iter() {
            std::hint::black_box(context.get_logits_ith(row)[0]);
        }
        batch.clear();
        wanted.clear();
    };
    let mut add = |id: i32, at: usize, sequences: &[i32], logits: bool| {
        if batch.n_tokens() == 512 {
            flush(&mut batch, &mut wanted);
        }
        if logits {
            wanted.push(batch.n_tokens());
        }
        batch
            .add(LlamaToken(id), at as i32, sequences, logits)
            .unwrap();
    };
    for (at, &id) in prompt.iter().enumerate() {
        add(id, at, &everybody, at + 1 == prompt.len());
    }
    for (number, text) in texts.iter().enumerate() {
        for (at, &id) in text[..text.len() - 1].iter().enumerate() {
            add(id, prompt.len() + at, &[number as i32 + 1], true);
        }
    }
    flush(&mut batch, &mut wanted);
}

/// A pass over query and candidate for each candidate; beside another sequence, if any, that lies in memory first.
pub(crate) fn separate(
    context: &mut LlamaContext<'_>,
    other: &[i32],
    prompt: &[i32],
    texts: &[&[i32]],
) -> Vec<Vec<f64>> {
    let score = |text: &&[i32]| {
        context.clear_kv_cache_seq(None, None, None).unwrap();
        let mut batch = LlamaBatch::new(512, 1);
        for (at, &id) in other.iter().enumerate() {
            batch.add(LlamaToken(id), at as i32, &[1], false).unwrap();
        }
        if !other.is_empty() {
            context.decode(&mut batch).unwrap();
        }
        let all: Vec<i32> = prompt
            .iter()
            .chain(&text[..text.len() - 1])
            .copied()
            .collect();
        let mut logprobs = Vec::new();
        for start in (0..all.len()).step_by(512) {
            let end = all.len().min(start + 512);
            batch.clear();
            for (at, &id) in all.iter().enumerate().take(end).skip(start) {
                let wanted = at + 1 >= prompt.len();
                batch.add(LlamaToken(id), at as i32, &[0], wanted).unwrap();
            }
            context.decode(&mut batch).unwrap();
            for at in start.max(prompt.len() - 1)..end {
                let logits = context.get_logits_ith((at - start) as i32);
                let next = text[at + 1 - prompt.len()];
                logprobs.push(crate::bare::logprob(logits, next));
            }
        }
        logprobs
    };
    texts.iter().map(score).collect()
}

/// The greatest difference between the log-probabilities of a text.
pub(crate) fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}
