//! `adapters/openai` at real servers with the bundled model: endpoints, scores of given texts, the quickstart's stream, and the
//! faults of a raw server.

mod server;

use std::{
    process::Command,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::{MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{
        Embedder, GenerateRequest, LanguageModel, ScoreRequest, Scorer, TokenScores, TokenSink,
        ToolChoice,
    },
    domain::{Message, Prompt, Speaker, ToolDefinition},
    recipe,
    run::{Journeyman, Options},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, Template};
use journeyman_openai::{OpenAi, OpenAiEmbedder, Route};
use quickstart::{Parts, Split, Summaries, Tasks, spoken};
use serde_json::json;

use self::server::{LLAMA_SERVER, PYTHON_SERVER, Server, Tried, asked};
use super::external::{self, set_up};
use crate::{
    figures::{Bound, Figures, Outcome, stats},
    source::bundled_model,
};

const MISSING: &str = "is not set; run: export $(bash tests/adapters/servers.sh)";
const ENDPOINTS: &str = "openai: endpoints of llama-server answered and checked";
const PYTHON_SCORES: &str =
    "openai: a token's score by llama-cpp-python less in process, largest, nats";
const LLAMA_SCORES: &str = "openai: a token's score by llama-server less in process, largest, nats";
const STREAM: [&str; 2] = [
    "openai: quickstart through llama-server less in process: first attempts, points",
    "openai: quickstart through llama-server less in process: tasks done, points",
];
const FAULTS: [(&str, &str); 3] = [
    ("late", "openai: calls that end later than deadline + 1 s"),
    ("twice", "openai: effects that happened twice"),
    ("untyped", "openai: calls without typed error"),
];
/// Memory of a process that reads an answer of 200 MiB, with the server that sends it.
const MEMORY: (&str, &str) = (
    "memory",
    "openai: memory that an answer without an end takes (KiB)",
);
const HALF: &str = "with the server's default memory";
const FULL: &str = ", keys and values in full precision";
const PYTHON_FULL: [&str; 4] = ["--type_k", "0", "--type_v", "0"];
const LLAMA_FULL: [&str; 6] = [
    "--cache-type-k",
    "f32",
    "--cache-type-v",
    "f32",
    "--flash-attn",
    "off",
];
const NEAR: Bound = Bound::AtMost(0.01);
const NONE: Bound = Bound::AtMost(0.0);
/// The interval of a difference holds 0.
const HOLDS_ZERO: (Bound, Bound) = (Bound::AtMost(0.0), Bound::AtLeast(0.0));
const SPLIT: Split = Split {
    stream: 48,
    held_out: 96,
};
const STEPS: usize = 8;
/// Tasks whose skills are scored, each with the skills of others.
const SCORED: usize = 12;
const RESAMPLES: usize = 4000;

/// The rows of this adapter, which are a group of figures by themselves too.
///
/// # Errors
/// Where the bundled model or a server cannot be used; a server that is not set up is printed as missing.
pub(crate) fn figures(figures: &mut Figures<'_>) -> Outcome {
    faults(figures)?;
    for variable in [LLAMA_SERVER, PYTHON_SERVER] {
        if set_up(variable).is_none() {
            figures.progress(format_args!("missing: {variable} {MISSING}"));
        }
    }
    let parts = Parts::with(LlamaConfig::new(bundled_model()).exact(), STEPS)?;
    // Completions have the marks of the template in the prompt.
    let mut config = LlamaConfig::new(bundled_model()).exact();
    config.template = Template::None;
    let inside = LlamaCpp::load(config)?;
    let tasks = Tasks::of(figures.options().seed, SPLIT)?;
    // Keys and values in full precision, as in process. The servers' own default, half precision, is another arithmetic.
    for (name, more, bound) in [
        (PYTHON_SCORES.to_owned(), &PYTHON_FULL[..], NEAR),
        (format!("{PYTHON_SCORES}: {HALF}"), &[], NEAR),
    ] {
        let value = match set_up(PYTHON_SERVER) {
            Some(_) => {
                let server = Server::python(more)?;
                largest(&server.connect(Route::Completions)?, &inside, &tasks)?
            }
            None => f64::NAN,
        };
        figures.record(&name, value, bound);
    }
    if set_up(LLAMA_SERVER).is_none() {
        figures.record(ENDPOINTS, f64::NAN, Bound::AtLeast(4.0));
        figures.record(LLAMA_SCORES, f64::NAN, NEAR);
        for (name, how) in STREAM
            .into_iter()
            .flat_map(|name| [(name, ""), (name, FULL)])
        {
            figures.record(&format!("{name}{how}.low"), f64::NAN, HOLDS_ZERO.0);
        }
        return Ok(());
    }
    let answered = endpoints(figures)?;
    figures.record(ENDPOINTS, answered, Bound::AtLeast(4.0));
    let full = Server::llama_server(&LLAMA_FULL)?;
    let value = largest(&full.connect(Route::Completions)?, &inside, &tasks)?;
    figures.record(LLAMA_SCORES, value, NEAR);
    drop(full);
    // As a user starts it.
    let plain = Server::llama_server(&[])?;
    let value = largest(&plain.connect(Route::Completions)?, &inside, &tasks)?;
    figures.record(&format!("{LLAMA_SCORES}: {HALF}"), value, NEAR);
    drop(plain);
    stream(figures, &parts, &tasks)
}

/// The counts of `adapters/openai/tests/memory.rs`, which has the raw server.
fn faults(figures: &mut Figures<'_>) -> Outcome {
    let mut command = Command::new("cargo");
    command.args([
        "test",
        "--quiet",
        "--package",
        "journeyman-openai",
        "--test",
        "memory",
    ]);
    command.args(["--", "--nocapture", "every_fault_is_counted"]);
    let ended = external::run(command)?;
    let line = ended
        .out
        .lines()
        .find_map(|line| line.split_once("faults: "));
    let counted = FAULTS.map(|row| (row, NONE));
    let memory = (MEMORY, Bound::AtMost(32.0 * 1024.0));
    for ((key, name), bound) in counted.into_iter().chain([memory]) {
        let of = |(_, counts): (&str, &str)| {
            let mut words = counts.split_whitespace();
            words.find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
        };
        figures.record(name, line.and_then(of).unwrap_or(f64::NAN), bound);
    }
    if line.is_none() {
        figures.progress(format_args!("{}{}", ended.out, ended.err));
    }
    Ok(())
}

/// How many of the four endpoints answer, and as they should.
fn endpoints(figures: &mut Figures<'_>) -> Tried<f64> {
    let plain = Server::llama_server(&[])?;
    let completions = plain.connect(Route::Completions)?;
    let begun = plain.config(Route::Completions).known.swap_remove(0);
    let text = written(&completions, begun)?;

    let chat = plain.connect(Route::Chat)?;
    let question = Prompt::new(vec![Message::data(Speaker::User, "say something")]);
    let said = written(&chat, question.clone())?;
    let called = called(&chat, question)?;

    let pooled = Server::llama_server(&["--embeddings", "--pooling", "mean", "--parallel", "1"])?;
    let embedder = block_on(OpenAiEmbedder::connect(pooled.config(Route::Chat)))?;
    let vectors = block_on(embedder.embed(&["unseal the coffee", "unseal the coffee", "wipe it"]))?;
    let is_unit = |vector: &journeyman::contract::Embedding| {
        let square: f32 = vector.components().iter().map(|x| x * x).sum();
        (square - 1.0).abs() < 1e-3
    };
    let embedded = vectors.len() == 3
        && vectors.iter().all(is_unit)
        && vectors[0] == vectors[1]
        && vectors[0] != vectors[2];

    let answered = [
        ("completions", text),
        ("chat", said),
        ("tool calls", called),
        ("embeddings", embedded),
    ];
    for (endpoint, is_answered) in answered {
        let how = if is_answered {
            "answered"
        } else {
            "not answered as it should"
        };
        figures.progress(format_args!("{endpoint}: {how}"));
    }
    Ok(answered
        .iter()
        .filter(|(_, is_answered)| *is_answered)
        .count() as f64)
}

/// Keeps what was streamed.
#[derive(Default)]
struct Pieces(Mutex<Vec<String>>);

impl TokenSink for Pieces {
    fn token(&self, text: &str) {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pieces.push(text.to_owned());
    }
}

/// Whether a text is written, streamed in pieces that make it up, and within its limit.
fn written(model: &OpenAi, prompt: Prompt) -> Result<bool> {
    let pieces = Arc::new(Pieces::default());
    let mut request = GenerateRequest::greedy(prompt, 12);
    request.sink = Some(pieces.clone());
    let answer = block_on(model.generate(&request))?;
    let pieces = pieces.0.lock().unwrap_or_else(PoisonError::into_inner);
    let whole = pieces.concat() == answer.text && pieces.len() > 1;
    Ok(whole && !answer.text.is_empty() && answer.output_tokens <= 12)
}

/// Whether the model calls the tool that it must call, with arguments of its schema (the adapter has checked them).
fn called(model: &OpenAi, prompt: Prompt) -> Result<bool> {
    let mut request = GenerateRequest::greedy(prompt, 200);
    request.tools = ["look", "wait"]
        .map(|name| {
            let schema = json!({
                "type": "object",
                "properties": {"at": {"enum": ["mast", "galley"]}},
                "required": ["at"],
                "additionalProperties": false,
            });
            ToolDefinition::new(name, "A tool.", schema)
        })
        .to_vec();
    request.tool_choice = ToolChoice::Named("wait".to_owned());
    let named = block_on(model.generate(&request))?.calls;
    request.tool_choice = ToolChoice::Required;
    let any = block_on(model.generate(&request))?.calls;
    let is_named = |made: &journeyman::domain::NativeCall| made.call.tool == "wait";
    Ok(!named.is_empty() && named.iter().all(is_named) && !any.is_empty())
}

/// The largest difference of a token's log-probability from the in-process adapter's, over skills behind tasks. Infinite
/// where the tokens themselves differ; not a number where a skill has no score or nothing was compared.
fn largest(model: &OpenAi, inside: &LlamaCpp, tasks: &Tasks) -> Result<f64> {
    let scored: Vec<_> = tasks.held_out.iter().take(SCORED).collect();
    let skills = scored.iter().filter_map(|task| {
        let tool = tasks.tools.get(&task.id)?;
        let mut members = tasks.members.iter();
        let about = members.find(|one| one.service.tool.name.to_string() == *tool)?;
        Some(spoken::draft(about).body.trim().to_owned())
    });
    let continuations: Vec<String> = skills.collect();
    let (mut largest, mut compared) = (0.0_f64, 0);
    for task in scored {
        let request = ScoreRequest::new(asked(&task.instruction), continuations.clone())
            .with_max_continuation_tokens(256)
            .with_time_limit(Duration::from_secs(120));
        let theirs = block_on(model.score(&request))?;
        let ours = block_on(inside.score(&request))?;
        for (theirs, ours) in theirs.iter().zip(&ours) {
            largest = largest.max(difference(theirs, ours));
            compared += 1;
        }
        if theirs.len() != continuations.len() || ours.len() != continuations.len() {
            return Ok(f64::NAN);
        }
    }
    Ok(if compared > 0 { largest } else { f64::NAN })
}

fn difference(a: &TokenScores, b: &TokenScores) -> f64 {
    if a.ids != b.ids || a.logprobs.len() != b.logprobs.len() {
        return f64::INFINITY;
    }
    let pairs = a.logprobs.iter().zip(&b.logprobs);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Which held-out tasks were done at the first attempt, and which at all, in their order.
type Done = [Vec<f64>; 2];

/// Learns the stream and attempts the held-out tasks with what was learned; with a model of a server in place of the one
/// in process, where one is given.
async fn learned(
    parts: &Parts,
    tasks: &Tasks,
    seed: Seed,
    model: Option<Arc<OpenAi>>,
) -> Result<Done> {
    let mut components = parts.components(Arc::new(MemoryStore::new()), None)?;
    if let Some(model) = model {
        let options = ModelExecutorOptions::default();
        let executor = ModelExecutor::new(model.clone(), parts.prompt_format(), options)?;
        components = components
            .with_executor(Arc::new(executor))
            .with_scorer(model.clone())
            .with_model(model);
    }
    let options = Options::new("quickstart", seed);
    let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
    journeyman.learn(tasks.stream.clone()).await?;
    let report = journeyman.evaluate(tasks.held_out.clone()).await?;
    let points = |is: bool| if is { 100.0 } else { 0.0 };
    let firsts = Summaries::first_attempts(&report);
    let done = report.tasks.iter().map(|task| {
        let first = task.attempts.first();
        points(first.is_some_and(|attempt| attempt.success == Some(true)))
    });
    Ok([firsts.into_iter().map(points).collect(), done.collect()])
}

/// Learns the stream in process, and through a server as a user starts it and with keys and values in full precision. The second
/// tells whether a difference is the arithmetic's.
fn stream(figures: &mut Figures<'_>, parts: &Parts, tasks: &Tasks) -> Outcome {
    let seed = figures.options().seed;
    let inside = block_on(learned(parts, tasks, seed, None))?;
    figures.progress(format_args!("learned in process"));
    let clusters: Vec<String> = tasks
        .held_out
        .iter()
        .map(|task| tasks.tools.get(&task.id).cloned().unwrap_or_default())
        .collect();
    for (name, inside) in STREAM.into_iter().zip(&inside) {
        let name = format!("{name}: in process");
        figures.record(&name, stats::mean(inside), Bound::None);
    }
    for (how, more) in [("", &[][..]), (FULL, &LLAMA_FULL[..])] {
        let server = Server::llama_server(more)?;
        let model = Arc::new(server.connect(Route::Chat)?);
        let through = block_on(learned(parts, tasks, seed, Some(model)))?;
        figures.progress(format_args!("learned through llama-server{how}"));
        for ((name, inside), through) in STREAM.into_iter().zip(&inside).zip(&through) {
            let name = format!("{name}{how}");
            let title = format!("{name}: llama-server");
            figures.record(&title, stats::mean(through), Bound::None);
            let draws = seed.derive("openai", 0);
            let interval = stats::clustered(inside, through, &clusters, draws, RESAMPLES)?;
            figures.interval(&name, &interval, HOLDS_ZERO.0, HOLDS_ZERO.1);
        }
    }
    Ok(())
}
