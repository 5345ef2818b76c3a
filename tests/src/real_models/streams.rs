//! Eight streams at once beside llama.cpp's own batched decoding in the same build, with its own defaults: what
//! `llama-batched-bench` measures as the speed of generation.

use std::{
    num::NonZeroU32,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use futures::{executor::block_on, future::try_join_all};
use journeyman::{
    Seed,
    contract::{LanguageModel, TokenSink},
    domain::Span,
};
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
/// Tokens of the words in each prompt, which the template adds to.
const PROMPT: usize = 64;
const TURNS: u64 = 3;
/// Tokens of each answer: streams begin one after another, and all of them write together for about [`WRITE`] steps.
const ROOM: usize = WRITE + 32;
/// Sets of prompts that are tried for one measurement.
const ATTEMPTS: u64 = 12;
/// Tokens that each stream has to write beside all others.
const LEAST: usize = WRITE / 2;

pub(super) fn record(figures: &mut Figures<'_>, name: &str, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let key = format!("eight streams, {}", file_name(path));
    let (ratio, ours): (f64, f64) = figures.once(&key, || measure(path, seed, 0))?;
    let what = format!("{name}: eight streams, of llama.cpp's batched decoding");
    figures.record(&what, ratio, Bound::AtLeast(0.9));
    figures.record(
        &format!("{name}: eight streams, tokens/s"),
        ours,
        Bound::None,
    );
    Ok(())
}

/// The ratio and our tokens per second, with so many layers on GPUs.
pub(super) fn measure(path: &Path, seed: Seed, gpu_layers: u32) -> Result<(f64, f64), Failure> {
    let mut config = LlamaConfig::new(path);
    config.n_ctx = Some(2_048);
    let model = LlamaCpp::load(config)?;
    let threads = model.stats().threads;
    let bare = Bare::load_on(path, gpu_layers);
    let (mut ratios, mut speeds) = (Vec::new(), Vec::new());
    // The first turn warms up.
    for turn in 0..=TURNS {
        let ours = measured(&model, seed.derive("turn", turn))?;
        let theirs = batched(&bare, threads, ours.prompt)?;
        if turn > 0 {
            ratios.push(ours.speed / theirs);
            speeds.push(ours.speed);
        }
    }
    Ok((median(&mut ratios), median(&mut speeds)))
}

/// Streams that write together.
struct Together {
    /// Tokens per second.
    speed: f64,
    /// Tokens of a prompt, on average.
    prompt: usize,
}

/// When the tokens of a stream came.
#[derive(Debug, Default)]
struct Times(Mutex<Vec<Instant>>);

impl TokenSink for Times {
    fn token(&self, _: &str) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.push(Instant::now());
    }
}

/// As [`ours`], of the first prompts whose answers are long enough.
fn measured(model: &LlamaCpp, seed: Seed) -> Result<Together, Failure> {
    for attempt in 0..ATTEMPTS {
        if let Some(together) = ours(model, seed.derive("attempt", attempt))? {
            return Ok(together);
        }
    }
    Err("in each attempt one of eight stories ended too early to measure".into())
}

/// Tokens per second of all streams, for as long as all of them write: from the first token of the last one that begins to the last
/// token of the first one that ends. The other program's prompts are read before its measurement, too.
fn ours(model: &LlamaCpp, seed: Seed) -> Result<Option<Together>, Failure> {
    let ask = |number: u64| {
        let text = words(model, seed.derive("stream", number), PROMPT);
        let mut request = request(&format!("Tell a long story about {text}."), ROOM);
        // Greedy answers of a small model are short where they do not begin like a story.
        request.prompt.open = vec![Span::Data("Once upon a time there was".to_owned())];
        let times = Arc::new(Times::default());
        request.sink = Some(times.clone());
        async move {
            let got = model.generate(&request).await?;
            let mut times = times.0.lock().unwrap_or_else(PoisonError::into_inner);
            Ok::<_, journeyman::Error>((got.prompt_tokens as usize, std::mem::take(&mut *times)))
        }
    };
    let answers = block_on(try_join_all((0..STREAMS as u64).map(ask)))?;
    let (prompts, streams): (Vec<usize>, Vec<Vec<Instant>>) = answers.into_iter().unzip();
    let begin = streams.iter().map(|times| times.first()).max().flatten();
    let end = streams.iter().map(|times| times.last()).min().flatten();
    let (Some(&begin), Some(&end)) = (begin, end) else {
        return Ok(None);
    };
    if end <= begin {
        return Ok(None);
    }
    // A token belongs to the step that ends with it.
    let within = |at: &&Instant| **at > begin && **at <= end;
    let written = streams.iter().flatten().filter(within).count();
    Ok((written >= STREAMS * LEAST).then(|| Together {
        speed: written as f64 / (end - begin).as_secs_f64(),
        prompt: prompts.iter().sum::<usize>() / STREAMS,
    }))
}

/// Tokens per second of a loop that decodes a token of each stream behind prompts of this length, and samples none.
fn batched(bare: &Bare, threads: u32, prompt: usize) -> Result<f64, Failure> {
    let tokens = (STREAMS * (prompt + WRITE)) as u32;
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(tokens))
        .with_n_seq_max(STREAMS as u32)
        .with_n_threads(threads as i32)
        .with_n_threads_batch(threads as i32)
        .with_no_perf(true);
    let mut context = bare.0.new_context(backend()?, params)?;
    let mut batch = LlamaBatch::new(STREAMS * prompt, 1);
    for stream in 0..STREAMS as i32 {
        for at in 0..prompt {
            batch.add(
                LlamaToken(100 + at as i32),
                at as i32,
                &[stream],
                at + 1 == prompt,
            )?;
        }
    }
    context.decode(&mut batch)?;
    let start = Instant::now();
    for at in 0..WRITE {
        batch.clear();
        for stream in 0..STREAMS as i32 {
            let place = (prompt + at) as i32;
            batch.add(LlamaToken(200 + place), place, &[stream], true)?;
        }
        context.decode(&mut batch)?;
    }
    Ok((STREAMS * WRITE) as f64 / start.elapsed().as_secs_f64())
}
