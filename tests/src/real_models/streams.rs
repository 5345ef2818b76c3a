//! Eight streams at once beside llama.cpp's own batched decoding in the same build, with its own defaults: what
//! `llama-batched-bench` measures as the speed of generation.

use std::{num::NonZeroU32, path::Path, time::Instant};

use futures::{executor::block_on, future::try_join_all};
use journeyman::{Seed, contract::LanguageModel};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, backend};
use llama_cpp_2::{
    context::params::LlamaContextParams, llama_batch::LlamaBatch, token::LlamaToken,
};

use super::{
    file_name, median,
    speed::{WRITE, request, words},
};
use crate::{
    engine::bare::Bare,
    figures::{Bound, Figures, Outcome},
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const STREAMS: usize = 8;
/// Tokens of each prompt.
const PROMPT: usize = 64;
const TURNS: u64 = 3;

pub(super) fn record(figures: &mut Figures<'_>, name: &str, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let key = format!("eight streams, {}", file_name(path));
    let (ratio, ours): (f64, f64) = figures.once(&key, || measure(path, seed))?;
    let what = format!("{name}: eight streams, of llama.cpp's batched decoding");
    figures.record(&what, ratio, Bound::AtLeast(0.9));
    figures.record(
        &format!("{name}: eight streams, tokens/s"),
        ours,
        Bound::None,
    );
    Ok(())
}

fn measure(path: &Path, seed: Seed) -> Result<(f64, f64), Failure> {
    let mut config = LlamaConfig::new(path);
    config.n_ctx = Some(2_048);
    let model = LlamaCpp::load(config)?;
    let threads = model.stats().threads;
    let bare = Bare::load(path);
    let (mut ratios, mut speeds) = (Vec::new(), Vec::new());
    // The first turn warms up.
    for turn in 0..=TURNS {
        let ours = ours(&model, seed.derive("turn", turn))?;
        let theirs = batched(&bare, threads)?;
        if turn > 0 {
            ratios.push(ours / theirs);
            speeds.push(ours);
        }
    }
    Ok((median(&mut ratios), median(&mut speeds)))
}

/// Tokens per second of all streams: the time for short answers is taken off, so that prompts do not count.
fn ours(model: &LlamaCpp, seed: Seed) -> Result<f64, Failure> {
    let time = |what: &str, tokens: usize| -> Result<(f64, u64), Failure> {
        let ask = |number: u64| {
            let text = words(model, seed.derive(what, number), PROMPT);
            let text = format!("Tell a long story about {text}.");
            async move { model.generate(&request(&text, tokens)).await }
        };
        let start = Instant::now();
        let answers = block_on(try_join_all((0..STREAMS as u64).map(ask)))?;
        let written = answers.iter().map(|answer| answer.output_tokens).sum();
        Ok((start.elapsed().as_secs_f64(), written))
    };
    let (short, few) = time("short", 1)?;
    let (long, many) = time("long", WRITE + 1)?;
    Ok((many - few) as f64 / (long - short))
}

/// Tokens per second of a loop that decodes a token of each stream and samples none.
fn batched(bare: &Bare, threads: u32) -> Result<f64, Failure> {
    let tokens = (STREAMS * (PROMPT + WRITE)) as u32;
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(tokens))
        .with_n_seq_max(STREAMS as u32)
        .with_n_threads(threads as i32)
        .with_n_threads_batch(threads as i32)
        .with_no_perf(true);
    let mut context = bare.0.new_context(backend()?, params)?;
    let mut batch = LlamaBatch::new(STREAMS * PROMPT, 1);
    for stream in 0..STREAMS as i32 {
        for at in 0..PROMPT {
            batch.add(
                LlamaToken(100 + at as i32),
                at as i32,
                &[stream],
                at + 1 == PROMPT,
            )?;
        }
    }
    context.decode(&mut batch)?;
    let start = Instant::now();
    for at in 0..WRITE {
        batch.clear();
        for stream in 0..STREAMS as i32 {
            let place = (PROMPT + at) as i32;
            batch.add(LlamaToken(200 + place), place, &[stream], true)?;
        }
        context.decode(&mut batch)?;
    }
    Ok((STREAMS * WRITE) as f64 / start.elapsed().as_secs_f64())
}
