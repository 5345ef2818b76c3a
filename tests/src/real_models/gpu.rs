//! A model on a GPU: speed beside llama.cpp's own loops, the time of the gate, and the decisions of the processor. `tests/gpu.sh` brings it
//! to a machine with a GPU and runs it there.

use std::{
    env,
    num::NonZeroU32,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::{ScoreRequest, Scorer},
    domain::{Message, Prompt, Speaker},
};
use journeyman_llama_cpp::{
    Device, DeviceKind, GpuLayers, LlamaConfig, LlamaCpp, backend, devices, load_backends,
};
use llama_cpp_2::{
    context::params::LlamaContextParams, llama_batch::LlamaBatch, token::LlamaToken,
};
use serde::{Deserialize, Serialize};
use shapes::{Quantization, Shape};

use super::{
    file_name, median, precision,
    speed::{WRITE, reading, tail, words, writing},
    streams,
};
use crate::{
    engine::bare::Bare,
    figures::{Bound, Figures, Outcome},
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const READ: usize = 512;
/// Tokens that fit into one batch together with the head of the template.
const PART: usize = 448;
const REPEATS: u64 = 5;
const CANDIDATES: u64 = 10;
const CANDIDATE_TOKENS: usize = 128;
/// Decisions that are compared on Mesa's software device, where a thousand would take hours.
const FEW: usize = 50;
/// Layers, more than any model has.
const ALL_LAYERS: u32 = 999;

/// Measures and records.
pub(super) fn run(figures: &mut Figures<'_>, bundled: &Path) -> Outcome {
    let folder = env::var_os("JOURNEYMAN_GPU_BACKENDS")
        .ok_or("run this by `bash tests/gpu.sh`, which builds the backend")?;
    load_backends(Path::new(&folder))?;
    let card = card()?;
    figures.subject("GPU", &card.description);
    let seed = figures.options().seed;
    let model = match figures.options().model.clone() {
        Some(model) => model,
        None => {
            let folder = figures.options().out.join("shapes");
            shapes::cached(&folder, Shape::B4, Quantization::Q4_K, seed)?
        }
    };
    let name = file_name(&model);
    figures.subject("model", &name);
    let speed: Speed = figures.once(&format!("speed, {name}, {}", card.description), || {
        speed(&model, seed)
    })?;
    let [ours, theirs] = [speed.ours, speed.theirs];
    let whats = [
        format!("reading {READ} tokens"),
        format!("writing {WRITE} tokens"),
    ];
    for (what, (ours, theirs)) in whats.iter().zip(ours.into_iter().zip(theirs)) {
        figures.record(
            &format!("{what}, of a bare loop's speed"),
            ours / theirs,
            Bound::AtLeast(0.9),
        );
        figures.record(&format!("{what}, tokens/s"), ours, Bound::None);
        figures.record(
            &format!("{what}, the bare loop's tokens/s"),
            theirs,
            Bound::None,
        );
    }
    for (what, value) in ["idle prefixes beside it", "nothing beside it"]
        .iter()
        .zip(speed.beside)
    {
        let what = format!("reading {PART} tokens with {what} in memory, tokens/s");
        figures.record(&what, value, Bound::None);
    }
    figures.record(
        "eight streams, of llama.cpp's batched decoding",
        speed.streams.0,
        Bound::AtLeast(0.9),
    );
    figures.record("eight streams, tokens/s", speed.streams.1, Bound::None);
    figures.record(
        "gate, ten candidates of 128 tokens, ms",
        speed.gate_ms,
        Bound::AtMost(100.0),
    );
    decisions(figures, bundled, &card)
}

/// The decisions of the gate on the GPU beside those of the processor.
fn decisions(figures: &mut Figures<'_>, bundled: &Path, card: &Device) -> Outcome {
    let seed = figures.options().seed;
    let count = match card.description.contains("llvmpipe") {
        true => FEW,
        false => precision::DECISIONS,
    };
    let key = format!("decisions, {count}, {}", card.description);
    let (differ, worst): (usize, f64) = figures.once(&key, || {
        let mut config = LlamaConfig::new(bundled);
        let gpu = precision::decisions(&LlamaCpp::load(config.clone())?, seed, count)?;
        config.gpu_layers = GpuLayers::None;
        let processor = precision::decisions(&LlamaCpp::load(config)?, seed, count)?;
        Ok(precision::differ(&gpu, &processor))
    })?;
    figures.record("decisions that were compared", count as f64, Bound::None);
    figures.record(
        "bundled model: decisions that differ between GPU and processor",
        differ as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "bundled model: greatest difference of a best score, nats",
        worst,
        Bound::None,
    );
    Ok(())
}

/// The GPU that models go to.
fn card() -> Result<Device, Failure> {
    let mut devices = devices()?.into_iter();
    let gpu =
        devices.find(|device| matches!(device.kind, DeviceKind::Gpu | DeviceKind::IntegratedGpu));
    Ok(gpu.ok_or("llama.cpp finds no GPU: `journeyman model devices` lists what it finds")?)
}

/// Tokens per second of reading and of writing; of eight streams the ratio and tokens per second.
#[derive(Debug, Serialize, Deserialize)]
struct Speed {
    ours: [f64; 2],
    theirs: [f64; 2],
    /// Reading with idle prefixes in memory, and with none.
    beside: [f64; 2],
    streams: (f64, f64),
    gate_ms: f64,
}

fn speed(path: &Path, seed: Seed) -> Result<Speed, Failure> {
    let theirs = bare(path)?;
    let mut config = LlamaConfig::new(path);
    config.n_ctx = Some(4_096);
    let model = LlamaCpp::load(config)?;
    let tail = tail(&model, seed)?;
    let (mut reads, mut writes, mut gates) = (Vec::new(), Vec::new(), Vec::new());
    for repeat in 0..=REPEATS {
        let seed = seed.derive("gpu", repeat);
        let (read, written) = (reading(&model, seed, READ, tail)?, writing(&model, seed)?);
        let gate = gate(&model, seed)?;
        // The first time compiles what the device runs.
        if repeat > 0 {
            reads.push(read);
            writes.push(written);
            gates.push(gate);
        }
    }
    let mut beside = [Vec::new(), Vec::new()];
    for repeat in 0..REPEATS {
        let seed = seed.derive("beside", repeat);
        beside[0].push(reading(&model, seed, PART, tail)?);
        block_on(model.forget_prefixes())?;
        beside[1].push(reading(&model, seed.derive("alone", 0), PART, tail)?);
        // Idle prefixes again.
        for number in 0..3 {
            reading(&model, seed.derive("idle", number), READ, tail)?;
        }
    }
    drop(model);
    Ok(Speed {
        beside: beside.map(|mut of| median(&mut of)),
        ours: [median(&mut reads), median(&mut writes)],
        theirs,
        streams: streams::measure(path, seed, ALL_LAYERS)?,
        gate_ms: median(&mut gates),
    })
}

/// Milliseconds for the scores of ten candidates behind a task.
fn gate(model: &Arc<LlamaCpp>, seed: Seed) -> Result<f64, Failure> {
    let text =
        |what: &str, number: u64, tokens: usize| words(model, seed.derive(what, number), tokens);
    let request = ScoreRequest::new(
        Prompt::new(vec![Message::data(Speaker::User, text("task", 0, 64))]),
        (0..CANDIDATES)
            .map(|number| text("skill", number, CANDIDATE_TOKENS))
            .collect(),
    )
    .with_max_continuation_tokens(CANDIDATE_TOKENS)
    .with_time_limit(Duration::from_secs(600));
    let start = Instant::now();
    block_on(model.score(&request))?;
    Ok(1e3 * start.elapsed().as_secs_f64())
}

/// What `llama-bench` measures, whose source the crate does not ship: tokens per second of one batch and of tokens one by one, by
/// llama.cpp's own interface with its own defaults, and without sampling.
fn bare(path: &Path) -> Result<[f64; 2], Failure> {
    let bare = Bare::load_on(path, ALL_LAYERS);
    let params = LlamaContextParams::default()
        .with_n_ctx(NonZeroU32::new(1_024))
        .with_n_batch(READ as u32)
        .with_n_ubatch(READ as u32)
        .with_no_perf(true);
    let mut context = bare.0.new_context(backend()?, params)?;
    let mut batch = LlamaBatch::new(READ, 1);
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for repeat in 0..=REPEATS {
        context.clear_kv_cache();
        batch.clear();
        for at in 0..READ as i32 {
            batch.add(LlamaToken(100 + at), at, &[0], at + 1 == READ as i32)?;
        }
        let start = Instant::now();
        context.decode(&mut batch)?;
        context.synchronize();
        let read = start.elapsed();
        context.clear_kv_cache();
        let start = Instant::now();
        for at in 0..WRITE as i32 {
            batch.clear();
            batch.add(LlamaToken(100 + at), at, &[0], true)?;
            context.decode(&mut batch)?;
            context.synchronize();
        }
        let written = start.elapsed();
        if repeat > 0 {
            reads.push(READ as f64 / read.as_secs_f64());
            writes.push(WRITE as f64 / written.as_secs_f64());
        }
    }
    Ok([median(&mut reads), median(&mut writes)])
}
