//! One stream and eight, against the same tokens drawn in a bare loop.

use std::time::Duration;

use futures::{executor::block_on, future::join_all};
use journeyman::contract::{GenerateRequest, LanguageModel};
use journeyman_llama_cpp::LlamaCpp;
use llama_cpp_2::{context::LlamaContext, llama_batch::LlamaBatch, token::LlamaToken};

use crate::{Bench, bare::Bare, median::median, prompt, text, timed};

const PROMPT: usize = 16;
const TOKENS: usize = 32;
/// A round takes seconds: many of them, the sides taking turns at being first, so that what else the machine does falls on
/// both.
const TURNS: usize = 8;

pub(crate) fn run(bench: &mut Bench, bare: &Bare) {
    let engine = bench.engine();
    let mut context = bare.context(4096, 512, bench.threads as i32);
    for streams in [1_usize, 8] {
        let mut ratios = Vec::new();
        let mut rate = 0.0;
        for round in 0..=(TURNS * bench.rounds) as u64 {
            let requests: Vec<_> = (0..streams as u64)
                .map(|stream| request(text(bench.seed, round * 100 + stream, PROMPT)))
                .collect();
            let prompts: Vec<Vec<i32>> = requests
                .iter()
                .map(|request| ids(&engine, request))
                .collect();
            block_on(engine.forget_prefixes()).unwrap();
            let mut bare_side = || timed(|| bare_loop(&mut context, &prompts));
            let first = (round % 2 == 0).then(&mut bare_side);
            let (ours, written) = timed(|| {
                let all = requests.iter().map(|request| engine.generate(request));
                block_on(join_all(all))
            });
            let (theirs, drawn) = first.unwrap_or_else(bare_side);
            let written: Vec<usize> = written
                .iter()
                .map(|w| w.as_ref().unwrap().ids.len())
                .collect();
            assert_eq!(written, drawn, "both write as much");
            if round > 0 {
                ratios.push(theirs.as_secs_f64() / ours.as_secs_f64());
                rate = (streams * TOKENS) as f64 / ours.as_secs_f64();
            }
        }
        let name = if streams == 1 {
            "one stream"
        } else {
            "8 streams"
        };
        bench.record(
            &format!("{name}: tokens a second, last round"),
            rate,
            "none",
        );
        let middle = median(&mut ratios);
        // In order now: half of the rounds lie between these.
        let [low, high] = [1, 3].map(|quarter| ratios[ratios.len() * quarter / 4]);
        bench.record(
            &format!("{name}: half of the rounds lie within"),
            high - low,
            "none",
        );
        let bound = if streams == 1 { ">= 0.97" } else { ">= 0.95" };
        bench.record(
            &format!("{name}: throughput over the bare loop's, median ratio"),
            middle,
            bound,
        );
    }
}

fn request(text: String) -> GenerateRequest {
    let mut request = GenerateRequest::greedy(prompt(text), TOKENS);
    request.time_limit = Duration::from_secs(600);
    request
}

fn ids(engine: &LlamaCpp, request: &GenerateRequest) -> Vec<i32> {
    let mut asked = request.clone();
    asked.max_tokens = 0;
    block_on(engine.generate(&asked)).unwrap().prompt_ids
}

/// Reads the prompts in one batch, then writes a token of each stream in each batch, the likeliest.
fn bare_loop(context: &mut LlamaContext<'_>, prompts: &[Vec<i32>]) -> Vec<usize> {
    context.clear_kv_cache_seq(None, None, None).unwrap();
    let mut batch = LlamaBatch::new(512, 1);
    let mut rows = Vec::new();
    for (stream, prompt) in prompts.iter().enumerate() {
        for (at, &id) in prompt.iter().enumerate() {
            let last = at + 1 == prompt.len();
            batch
                .add(LlamaToken(id), at as i32, &[stream as i32], last)
                .unwrap();
        }
        rows.push(batch.n_tokens() - 1);
    }
    for step in 0..TOKENS {
        context.decode(&mut batch).unwrap();
        batch.clear();
        for (stream, row) in rows.iter_mut().enumerate() {
            let logits = context.get_logits_ith(*row);
            let mut best = 0;
            for (id, logit) in logits.iter().enumerate() {
                if *logit > logits[best] {
                    best = id;
                }
            }
            let place = (prompts[stream].len() + step) as i32;
            batch
                .add(LlamaToken(best as i32), place, &[stream as i32], true)
                .unwrap();
            *row = batch.n_tokens() - 1;
        }
    }
    vec![TOKENS; prompts.len()]
}
