//! Reading, writing and loading beside the peer: in turns, and the median of the turns' ratios.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::{GenerateRequest, LanguageModel, TokenSink, Tokenizer},
    domain::{Message, Prompt, Speaker},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};

use super::{file_name, median, peer::Peer};
use crate::figures::{Bound, Figures, Outcome};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Turns of the two programs.
const TURNS: u64 = 3;
const READS: [usize; 2] = [512, 4_096];
pub(super) const WRITE: usize = 64;
/// The words of prompts.
const WORDS: [&str; 16] = [
    "lamp", "river", "seven", "open", "garden", "slowly", "the", "and", "carries", "north",
    "window", "under", "quiet", "first", "letter", "stone",
];

/// Words of about so many tokens; texts of two seeds differ from the first word on.
pub(super) fn words(model: &LlamaCpp, seed: Seed, tokens: usize) -> String {
    let drawn = (0..tokens as u64).filter_map(|number| {
        let at = seed.derive("word", number).index(WORDS.len())?;
        WORDS.get(at).copied()
    });
    let text = format!("{} {}", seed.0, drawn.collect::<Vec<_>>().join(" "));
    model.truncate(&text, tokens)
}

pub(super) fn request(text: &str, max_tokens: usize) -> GenerateRequest {
    let prompt = Prompt::new(vec![Message::data(Speaker::User, text)]);
    let mut request = GenerateRequest::greedy(prompt, max_tokens);
    request.time_limit = Duration::from_secs(600);
    request
}

/// The tokens that the template adds behind a prompt's words; those before them are in memory once a prompt was read.
pub(super) fn tail(model: &LlamaCpp, seed: Seed) -> Result<usize, Failure> {
    let mut read = 0;
    for number in 0..2 {
        let text = words(model, seed.derive("tail", number), 64);
        let reused = model.stats().reused_tokens;
        let got = block_on(model.generate(&request(&text, 1)))?;
        read = got.prompt_tokens - (model.stats().reused_tokens - reused);
    }
    Ok((read as usize).saturating_sub(64))
}

/// Tokens of a prompt that are read in a second: so many words and tail of the template together, as the other program reads.
pub(super) fn reading(
    model: &LlamaCpp,
    seed: Seed,
    tokens: usize,
    tail: usize,
) -> Result<f64, Failure> {
    let request = request(&words(model, seed, tokens - tail), 1);
    let reused = model.stats().reused_tokens;
    let start = Instant::now();
    let got = block_on(model.generate(&request))?;
    let time = start.elapsed().as_secs_f64();
    // The head of the template was read before.
    let read = got.prompt_tokens - (model.stats().reused_tokens - reused);
    Ok(read as f64 / time)
}

/// The time of the first piece of text.
#[derive(Debug, Default)]
struct First(Mutex<Option<Instant>>);

impl TokenSink for First {
    fn token(&self, _: &str) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(Instant::now);
    }
}

/// Tokens that are written in a second, behind the first one.
pub(super) fn writing(model: &LlamaCpp, seed: Seed) -> Result<f64, Failure> {
    let first = Arc::new(First::default());
    let text = format!("Tell a long story about {}.", words(model, seed, 8));
    let mut request = request(&text, WRITE + 1);
    request.sink = Some(first.clone());
    let got = block_on(model.generate(&request))?;
    let end = Instant::now();
    let first = first.0.lock().unwrap_or_else(PoisonError::into_inner);
    let first = first.ok_or("the model wrote nothing")?;
    if got.output_tokens < 16 {
        return Err("the story ended too early to measure".into());
    }
    Ok((got.output_tokens - 1) as f64 / (end - first).as_secs_f64())
}

pub(super) fn record(figures: &mut Figures<'_>, name: &str, path: &Path, peer: &Peer) -> Outcome {
    let seed = figures.options().seed;
    let key = format!("beside the peer, {}", file_name(path));
    let (reading, writing, loading, ours, theirs, about): Ratios =
        figures.once(&key, || measure(path, peer, seed))?;
    figures.subject(&format!("{name}: the peer"), &about);
    for (length, ratio) in READS.into_iter().zip(reading) {
        let what = format!("{name}: reading {length} tokens, of the peer's speed");
        figures.record(&what, ratio, Bound::AtLeast(0.9));
    }
    let what = format!("{name}: writing {WRITE} tokens, of the peer's speed");
    figures.record(&what, writing, Bound::AtLeast(0.9));
    let what = format!("{name}: loading, of the peer's time");
    figures.record(&what, loading, Bound::AtMost(1.2));
    let whats = ["reading 512 tokens", "reading 4096 tokens", "writing"];
    for (what, (ours, theirs)) in whats.into_iter().zip(ours.into_iter().zip(theirs)) {
        figures.record(&format!("{name}: {what}, tokens/s"), ours, Bound::None);
        figures.record(
            &format!("{name}: {what}, the peer's tokens/s"),
            theirs,
            Bound::None,
        );
    }
    Ok(())
}

/// Reading, writing and loading against the peer; our figures, the peer's, and how it computed.
type Ratios = (Vec<f64>, f64, f64, Vec<f64>, Vec<f64>, String);

fn measure(path: &Path, peer: &Peer, seed: Seed) -> Result<Ratios, Failure> {
    let mut ratios = vec![Vec::new(); 4];
    let (mut ours, mut theirs) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    let mut about = String::new();
    for turn in 0..TURNS {
        let seed = seed.derive("turn", turn);
        let start = Instant::now();
        let mut config = LlamaConfig::new(path);
        config.n_ctx = Some(4_608);
        let model = LlamaCpp::load(config)?;
        let load = 1e3 * start.elapsed().as_secs_f64();
        let threads = model.stats().threads;
        let mut here = [0.0; 3];
        // The peer warms up in the same way.
        let tail = tail(&model, seed)?;
        reading(&model, seed.derive("warm", 0), READS[0], tail)?;
        writing(&model, seed.derive("warm", 0))?;
        for (at, length) in READS.into_iter().enumerate() {
            here[at] = reading(&model, seed, length, tail)?;
        }
        here[2] = writing(&model, seed)?;
        drop(model);
        let there = peer.measure(path, threads, (4_608, &READS), (WRITE, seed.0))?;
        about = there.about();
        let there_of = [
            there.reading.get(&READS[0]).cloned().unwrap_or_default(),
            there.reading.get(&READS[1]).cloned().unwrap_or_default(),
            there.writing,
        ];
        for (at, (here, mut there)) in here.into_iter().zip(there_of).enumerate() {
            let there = median(&mut there);
            ratios[at].push(here / there);
            ours[at].push(here);
            theirs[at].push(there);
        }
        ratios[3].push(load / there.load_ms);
    }
    let mut medians = ratios.into_iter().map(|mut of| median(&mut of));
    let reading: Vec<f64> = medians.by_ref().take(2).collect();
    let (writing, loading) = (
        medians.next().unwrap_or(f64::NAN),
        medians.next().unwrap_or(f64::NAN),
    );
    let each = |all: Vec<Vec<f64>>| all.into_iter().map(|mut of| median(&mut of)).collect();
    Ok((reading, writing, loading, each(ours), each(theirs), about))
}
