//! `model bench`: measures a model's speed on this machine.

use std::{
    fs,
    num::NonZero,
    thread,
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    contract::{GenerateRequest, ScoreRequest},
    domain::Sampling,
};
use serde_json::{Value, json};

use super::{
    arguments::Bench,
    layers,
    load::{Model, prompt},
};
use crate::output::{Answer, of_them, table};
use crate::progress::Progress;

/// The words of prompts and candidates.
const WORDS: [&str; 16] = [
    "lamp", "river", "seven", "open", "garden", "slowly", "the", "and", "carries", "north",
    "window", "under", "quiet", "first", "letter", "stone",
];
/// Tokens of each prompt of a stream.
const SHORT: usize = 8;
const NOTE: &str =
    "measured on a machine that other programs share: compare figures of one run with each other";

/// A figure with its measured values.
struct Figure {
    name: String,
    unit: &'static str,
    values: Vec<f64>,
}

impl Figure {
    fn new(name: impl Into<String>, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            unit,
            values: Vec::new(),
        }
    }

    fn median(&self) -> f64 {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        match values.len() {
            0 => f64::NAN,
            n if n % 2 == 0 => values[middle - 1].midpoint(values[middle]),
            _ => values[middle],
        }
    }
}

/// The loaded model and the settings of a measurement.
struct Trial<'a> {
    command: &'a Bench,
    model: Model,
    prompt_tokens: usize,
}

pub(super) async fn bench(command: &Bench) -> Result<Answer> {
    let model = Model::load(&command.load)?;
    let context = model.language.capabilities().context;
    let prompt_tokens = command.prompt_tokens.unwrap_or(512.min(context / 2));
    let trial = Trial {
        command,
        model,
        prompt_tokens,
    };
    let figures = trial.figures().await?;
    // Of a worker process only the option is known.
    let engine = trial.model.engine.as_ref();
    let threads = engine.map_or(command.load.threads, |engine| Some(engine.stats().threads));
    let settings = json!({
        "context": context,
        "threads": threads,
        "at_load": trial.model.language.capabilities().speed.map(|speed| json!({
            "read_tokens_per_second": speed.reads_per_second(),
            "written_tokens_per_second": speed.writes_per_second(),
        })),
        "gpu_layers": command.load.gpu_layers,
        "isolated": command.load.isolated,
        "prompt_tokens": prompt_tokens,
        "tokens": command.tokens,
        "streams": command.streams,
        "candidates": command.candidates,
        "candidate_tokens": command.candidate_tokens,
        "repeats": command.repeats,
        "seed": command.seed,
    });
    Ok(Answer {
        json: json!({
            "model": trial.model.scorer.model(),
            "settings": settings,
            "machine": machine(),
            "figures": figures.iter().map(as_json).collect::<Vec<_>>(),
            "note": NOTE,
        }),
        text: as_text(&trial, &figures, threads),
        ..Answer::default()
    })
}

impl Trial<'_> {
    async fn figures(&self) -> Result<Vec<Figure>> {
        let (streams, candidates) = (self.command.streams, self.command.candidates);
        let mut figures = [
            Figure::new("reading a prompt", "tokens/s"),
            Figure::new("writing, 1 stream", "tokens/s"),
            Figure::new(format!("writing, {streams} streams together"), "tokens/s"),
            Figure::new(format!("scoring {candidates}, prompt shared"), "ms"),
            Figure::new(format!("scoring {candidates}, one by one"), "ms"),
            Figure::new("one by one, by shared", "times as long"),
        ];
        let progress = Progress::counted("warming up", self.command.repeats.get() as usize + 1);
        for repeat in 0..=u64::from(self.command.repeats.get()) {
            let seed = Seed(self.command.seed).derive("repeat", repeat);
            let shared = self.shared(seed).await?;
            let separate = self.separate(seed).await?;
            let values = [
                self.reading(seed).await?,
                self.writing(seed, 1).await?,
                self.writing(seed, streams.get()).await?,
                1e3 * shared.as_secs_f64(),
                1e3 * separate.as_secs_f64(),
                separate.as_secs_f64() / shared.as_secs_f64(),
            ];
            if repeat > 0 {
                for (figure, value) in figures.iter_mut().zip(values) {
                    figure.values.push(value);
                }
            }
            progress.step("measuring");
            progress.advance();
        }
        Ok(figures.into())
    }

    /// Words of at most `tokens` tokens. Texts of two seeds differ from the first word on.
    fn text(&self, seed: Seed, tokens: usize) -> String {
        let words = (0..tokens as u64).filter_map(|number| {
            let at = seed.derive("word", number).index(WORDS.len())?;
            WORDS.get(at).copied()
        });
        let words: Vec<&str> = words.collect();
        // The seed comes first, so that no cached prefix of another text helps.
        let text = format!("{} {}", seed.0, words.join(" "));
        self.model.tokenizer.truncate(&text, tokens)
    }

    fn request(&self, seed: Seed, prompt_tokens: usize, max_tokens: usize) -> GenerateRequest {
        let prompt = prompt(None, &self.text(seed, prompt_tokens));
        let mut request = GenerateRequest::greedy(prompt, max_tokens);
        request.time_limit = self.model.time_limit;
        request.sampling = Sampling::new(1.0, 1.0, seed);
        request
    }

    async fn reading(&self, seed: Seed) -> Result<f64> {
        let request = self.request(seed.derive("reading", 0), self.prompt_tokens, 1);
        let start = Instant::now();
        let got = self.model.language.generate(&request).await?;
        Ok(got.prompt_tokens as f64 / start.elapsed().as_secs_f64())
    }

    /// Tokens per second of all streams together, including the time of their short prompts. A stream that ends early
    /// begins another text until it has written its tokens.
    async fn writing(&self, seed: Seed, streams: u32) -> Result<f64> {
        let stream = |number: u32| async move {
            let seed = seed.derive("stream", number.into());
            let (mut left, mut requests) = (self.command.tokens.get() as usize, 0);
            while left > 0 {
                let request = self.request(seed.derive("request", requests), SHORT, left);
                let got = self.model.language.generate(&request).await?;
                if got.output_tokens == 0 {
                    return Err(wrote_nothing());
                }
                left = left.saturating_sub(got.output_tokens as usize);
                requests += 1;
            }
            Ok(())
        };
        let start = Instant::now();
        try_join_all((0..streams).map(stream)).await?;
        let tokens = f64::from(streams) * f64::from(self.command.tokens.get());
        Ok(tokens / start.elapsed().as_secs_f64())
    }

    fn candidates(&self, seed: Seed) -> Vec<String> {
        let tokens = self.command.candidate_tokens.get() as usize;
        (0..self.command.candidates.get())
            .map(|number| self.text(seed.derive("candidate", number.into()), tokens))
            .collect()
    }

    fn score_request(&self, seed: Seed, continuations: Vec<String>) -> ScoreRequest {
        ScoreRequest::new(
            prompt(None, &self.text(seed, self.prompt_tokens)),
            continuations,
        )
        .with_max_continuation_tokens(self.command.candidate_tokens.get() as usize)
        .with_time_limit(self.model.time_limit)
    }

    async fn shared(&self, seed: Seed) -> Result<Duration> {
        let request = self.score_request(seed.derive("shared", 0), self.candidates(seed));
        let start = Instant::now();
        self.model.scorer.score(&request).await?;
        Ok(start.elapsed())
    }

    /// Scores each text after a prompt of its own, of the same length, so that nothing can be shared.
    async fn separate(&self, seed: Seed) -> Result<Duration> {
        let candidates = (0..).zip(self.candidates(seed));
        let requests: Vec<ScoreRequest> = candidates
            .map(|(number, text)| self.score_request(seed.derive("separate", number), vec![text]))
            .collect();
        let start = Instant::now();
        for request in &requests {
            self.model.scorer.score(request).await?;
        }
        Ok(start.elapsed())
    }
}

fn wrote_nothing() -> Error {
    Error::new(
        ErrorKind::Model,
        "bench",
        "the model writes no token at all",
    )
    .hint("give it room: a larger --ctx")
}

fn as_json(figure: &Figure) -> Value {
    json!({
        "name": figure.name,
        "unit": figure.unit,
        "median": figure.median(),
        "values": figure.values,
    })
}

fn as_text(trial: &Trial<'_>, figures: &[Figure], threads: Option<u32>) -> String {
    let rows: Vec<Vec<String>> = figures
        .iter()
        .map(|figure| {
            let least = figure.values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = figure.values.iter().copied().fold(0.0, f64::max);
            vec![
                figure.name.clone(),
                format!("{:.1}", figure.median()),
                figure.unit.to_owned(),
                format!("{least:.1} to {most:.1}"),
            ]
        })
        .collect();
    format!(
        "{}\nmodel {}\n{}on {}\n{NOTE}\n",
        table(&["FIGURE", "MEDIAN", "UNIT", "RANGE"], &rows),
        trial.model.scorer.model(),
        settings_text(trial, threads),
        machine_text(),
    )
}

/// How it was measured, in lines.
fn settings_text(trial: &Trial<'_>, threads: Option<u32>) -> String {
    let command = trial.command;
    let capabilities = trial.model.language.capabilities();
    let threads = threads.map_or_else(String::new, |threads| {
        let threads = of_them(threads.into(), "thread", "threads");
        format!(", {threads}")
    });
    let place = match command.load.isolated {
        true => "in a process of its own",
        false => "in this process",
    };
    let speed = capabilities.speed.map_or_else(String::new, |speed| {
        format!(
            "when it was loaded it read {:.0} tokens/s and wrote {:.0} tokens/s\n",
            speed.reads_per_second(),
            speed.writes_per_second()
        )
    });
    format!(
        "context {} tokens{threads}, GPU layers {}, {place}\n{speed}\
         prompts of {} tokens; {} streams that write {} tokens each; {} texts of {} tokens to score\n\
         {}, seed {}\n",
        capabilities.context,
        layers::shown(command.load.gpu_layers),
        trial.prompt_tokens,
        command.streams,
        command.tokens,
        command.candidates,
        command.candidate_tokens,
        of_them(command.repeats.get().into(), "repetition", "repetitions"),
        command.seed,
    )
}

fn machine_text() -> String {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let cores = of_them(cores as u64, "core", "cores");
    let processor = processor().map_or_else(String::new, |name| format!(", {name}"));
    format!(
        "{} {}{processor}, {cores}",
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

fn machine() -> Value {
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "processor": processor(),
        "cores": thread::available_parallelism().map_or(1, NonZero::get),
    })
}

/// The processor's name on Linux.
fn processor() -> Option<String> {
    let told = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = told.lines().find(|line| line.starts_with("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.trim().to_owned())
}
