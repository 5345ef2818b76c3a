//! The engine against a bare loop over the same llama.cpp, side by side in one run, on a shape of 0.5 billion parameters
//! with random weights: scoring behind a shared prefix, prefixes across calls, one and eight streams, a worker process
//! that dies, exactness. The lines are figures: name, value, bound, `ok` or `short`.
//!
//! `cargo bench --profile dev -p shapes --bench engine -- [--seed N] [--rounds N] [--model FILE] [--only PART]`; the
//! profile is the one that everything here is built with, so that llama.cpp is compiled once; both sides are optimised in
//! it as in a release.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs
)]

#[path = "../../../../../adapters/llama-cpp/tests/support/bare.rs"]
mod bare;
mod exact;
mod generation;
#[path = "../../../../src/figures/median.rs"]
mod median;
mod restart;
mod scoring;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use journeyman::{
    Seed,
    domain::{Message, Prompt, Speaker},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Precision, Template, run_worker};
use shapes::{Quantization, Shape};

use crate::bare::Bare;

const PARTS: [&str; 4] = ["restart", "generation", "scoring", "exact"];

/// What a run is done with.
struct Bench {
    model: PathBuf,
    seed: u64,
    rounds: usize,
    threads: u32,
    /// The only one of [`PARTS`] that is run.
    only: Option<String>,
    short: bool,
}

impl Bench {
    fn from_arguments() -> Self {
        let mut bench = Self {
            model: PathBuf::new(),
            seed: 1,
            rounds: 5,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            only: None,
            short: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value behind the option");
            match argument.as_str() {
                "--seed" => bench.seed = value().parse().expect("a seed"),
                "--rounds" => bench.rounds = value().parse().expect("a number of rounds"),
                "--model" => bench.model = value().into(),
                "--only" => {
                    let part = value();
                    assert!(PARTS.contains(&part.as_str()), "the parts are {PARTS:?}");
                    bench.only = Some(part);
                }
                // Cargo's own.
                _ => {}
            }
        }
        if bench.model.as_os_str().is_empty() {
            bench.model = Self::shape(Quantization::Q8_0);
        }
        bench
    }

    fn engine(&self) -> Arc<LlamaCpp> {
        self.engine_of(&self.model)
    }

    fn engine_of(&self, model: &Path) -> Arc<LlamaCpp> {
        LlamaCpp::load(self.config(model)).unwrap()
    }

    fn config(&self, model: &Path) -> LlamaConfig {
        let mut config = LlamaConfig::new(model);
        config.n_ctx = Some(2048);
        config.shared_cells = Some(2048);
        config.threads = Some(self.threads);
        config.template = Template::None;
        // As the bare loop.
        config.precision = Precision::Full;
        config
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    /// A model of 0.5 billion parameters.
    fn shape(quantization: Quantization) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shapes");
        shapes::cached(&folder, Shape::B0_5, quantization, Seed(1)).unwrap()
    }

    fn record(&mut self, name: &str, value: f64, bound: &str) {
        let ok = match bound.split_once(' ') {
            Some(("<=", most)) => value <= most.parse().unwrap(),
            Some((">=", least)) => value >= least.parse().unwrap(),
            _ => true,
        };
        self.short |= !ok;
        println!(
            "{name}, {value:.6}, {bound}, {}",
            if ok { "ok" } else { "short" }
        );
    }
}

/// Plain text of about so many tokens, which follows from the numbers.
fn text(seed: u64, number: u64, length: usize) -> String {
    let mut state =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mut letter = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((state >> 33) % 26) as u8)
    };
    (0..length).map(|_| letter()).collect()
}

fn prompt(text: String) -> Prompt {
    Prompt::new(vec![Message::data(Speaker::User, text)])
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(restart::WORKER) {
        return run_worker();
    }
    let mut bench = Bench::from_arguments();
    println!(
        "seed {}, {} rounds, {} threads, {}",
        bench.seed,
        bench.rounds,
        bench.threads,
        bench.model.file_name().unwrap().to_string_lossy()
    );
    if bench.wants("restart") {
        restart::run(&mut bench);
    }
    let bare = Bare::load(&bench.model);
    if bench.wants("generation") {
        generation::run(&mut bench, &bare);
    }
    if bench.wants("scoring") {
        scoring::run(&mut bench, &bare);
    }
    drop(bare);
    if bench.wants("exact") {
        exact::run(&mut bench);
    }
    ExitCode::from(u8::from(bench.short))
}
