//! A thousand mixed requests from 32 tasks at once, some with an adapter, some of which are taken back or are out of
//! time.

mod compare;
mod seen;

use std::{fs, io::Write, path::Path, sync::Mutex, thread, time::Duration};

use futures::{
    executor::block_on,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Seed,
    contract::{GenerateRequest, Generation, LanguageModel, ScoreRequest, Scorer, TokenScores},
    domain::{Message, Prompt, Sampling, Speaker},
};
use journeyman_llama_cpp::{EngineStats, LlamaCpp};
use journeyman_toolworld::stream::{Universe, UniverseSpec};
use tempfile::NamedTempFile;

use self::seen::Seen;
use super::{bare::Bare, config, gguf::Lora};
use crate::figures::{Bound, Figures, Outcome, stats};

const REQUESTS: u64 = 1000;
const TASKS: u64 = 32;
/// Tokens of the longest request.
const CONTEXT: u32 = 256;
/// The adapter that a part of the requests names.
const ADAPTER: &str = "tilted";
/// Two log-probabilities, or a drawn number and a border, this near are a tie.
const TIE: f64 = 1e-3;

enum Ask {
    Write(GenerateRequest),
    Score(ScoreRequest),
}

impl Ask {
    /// The same with time enough.
    fn patient(&self) -> Self {
        let time_limit = Duration::from_secs(300);
        match self {
            Self::Write(request) => {
                Self::Write(request.clone().edited(|it| it.time_limit = time_limit))
            }
            Self::Score(request) => Self::Score(request.clone().with_time_limit(time_limit)),
        }
    }

    fn adapter(&mut self) -> &mut Option<String> {
        match self {
            Self::Write(request) => &mut request.adapter,
            Self::Score(request) => &mut request.adapter,
        }
    }

    /// The same without its adapter, if it has one.
    fn plain(&self) -> Option<Self> {
        let mut plain = self.patient();
        plain.adapter().take().map(|_| plain)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Written(Generation),
    Scored(Vec<TokenScores>),
}

/// How a request of the load ended.
enum End {
    Answered(Answer),
    TakenBack,
    OutOfTime,
    /// With another error, which nothing in the load gives a reason for.
    Failed(String),
}

/// A request, what it may take, and when its future is dropped.
struct Load {
    ask: Ask,
    limit: Duration,
    drop_after: Option<Duration>,
}

fn load(seed: Seed, queries: &[String], number: u64) -> Load {
    let task = number % TASKS;
    let draw = |label: &str| seed.derive(label, number).unit();
    // Each task asks on: its opening is common to its requests.
    let text = format!(
        "{} {}",
        queries[task as usize],
        "and then ".repeat((number / TASKS) as usize % 9)
    );
    let prompt = Prompt::new(vec![Message::data(Speaker::User, text)]);
    let limit = match draw("deadline") {
        d if d < 0.1 => Duration::from_micros((draw("limit") * 20_000.0) as u64),
        _ => Duration::from_secs(300),
    };
    let dropped = draw("dropped") < 0.15;
    let adapter = (draw("adapter") < 0.2).then(|| ADAPTER.to_owned());
    let ask = match draw("kind") {
        kind if kind < 0.35 => {
            let mut request = ScoreRequest::new(
                prompt,
                (0..1 + number % 7)
                    .map(|n| queries[((number + n) % TASKS) as usize].clone())
                    .collect(),
            )
            .with_max_continuation_tokens(32)
            .with_time_limit(limit);
            request.adapter = adapter;
            Ask::Score(request)
        }
        kind => {
            let mut request = GenerateRequest::greedy(prompt, 8 + number as usize % 150);
            request.time_limit = limit;
            if kind > 0.8 {
                request.sampling = Sampling::new(0.8, 1.0, seed.derive("draw", number));
            } else {
                // What was drawn is checked against the bare model, which has no adapter.
                request.adapter = adapter;
            }
            Ask::Write(request)
        }
    };
    Load {
        ask,
        limit,
        drop_after: dropped.then(|| Duration::from_micros((draw("after") * 30_000.0) as u64)),
    }
}

async fn ask(model: &LlamaCpp, ask: &Ask) -> journeyman::Result<Answer> {
    match ask {
        Ask::Write(request) => model.generate(request).await.map(Answer::Written),
        Ask::Score(request) => model.score(request).await.map(Answer::Scored),
    }
}

fn perform(model: &LlamaCpp, load: &Load) -> End {
    let asked = async {
        let answer = Box::pin(ask(model, &load.ask));
        let Some(after) = load.drop_after else {
            return Some(answer.await);
        };
        match select(answer, Delay::new(after)).await {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(_) => None,
        }
    };
    match block_on(asked) {
        None => End::TakenBack,
        Some(Ok(answer)) => End::Answered(answer),
        Some(Err(error))
            if error.kind() == ErrorKind::Timeout && load.limit < Duration::from_secs(1) =>
        {
            End::OutOfTime
        }
        Some(Err(error)) => End::Failed(error.to_string()),
    }
}

/// All requests, each task's one after the other on a thread of its own, with the resident memory behind each.
fn run_load(model: &LlamaCpp, loads: &[Load]) -> (Vec<End>, Vec<f64>) {
    let ends: Mutex<Vec<Option<End>>> = Mutex::new(loads.iter().map(|_| None).collect());
    let sizes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for task in 0..TASKS as usize {
            let (ends, sizes) = (&ends, &sizes);
            scope.spawn(move || {
                for number in (task..loads.len()).step_by(TASKS as usize) {
                    let end = perform(model, &loads[number]);
                    if let Ok(mut ends) = ends.lock() {
                        ends[number] = Some(end);
                    }
                    if let (Some(size), Ok(mut sizes)) = (resident(), sizes.lock()) {
                        sizes.push(size);
                    }
                }
            });
        }
    });
    let ends = ends.into_inner().unwrap_or_default();
    let ends = ends
        .into_iter()
        .map(|end| end.unwrap_or(End::Failed("no answer".into())));
    (ends.collect(), sizes.into_inner().unwrap_or_default())
}

/// The load six times more: the mean resident memory of the last two times over that of two times before, once everything
/// was done three times, for an allocator takes its time to settle. And how many requests had neither answer nor reason.
fn growth(model: &LlamaCpp, loads: &[Load]) -> (f64, usize) {
    let mut failed = 0;
    let [_, early, late] = [(); 3].map(|()| {
        let mut sizes = Vec::new();
        for _ in 0..2 {
            let (ends, behind) = run_load(model, loads);
            let without = ends.iter().filter(|end| matches!(end, End::Failed(_)));
            failed += without.count();
            sizes.extend(behind);
        }
        stats::mean(&sizes)
    });
    (late / early, failed)
}

/// Pages of memory that the process has.
fn resident() -> Option<f64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    statm.split(' ').nth(1)?.parse().ok()
}

/// Waits until nothing is computed, and forgets the prefixes.
fn forget(shared: &LlamaCpp) -> journeyman::Result<()> {
    // What was taken back last is noticed before the next batch.
    for _ in 0..100 {
        let now = shared.stats();
        if now.active + now.waiting == 0 {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    block_on(shared.forget_prefixes()).map(drop)
}

/// An adapter of the bundled model's queries with random weights, that changes what it says.
fn adapter(seed: Seed) -> std::io::Result<NamedTempFile> {
    let lora = Lora {
        seed: seed.0,
        architecture: "qwen3",
        layers: 4,
        width: 128,
        scale: 0.1,
    };
    let mut file = NamedTempFile::new()?;
    file.write_all(&lora.bytes())?;
    Ok(file)
}

pub(super) fn run(figures: &mut Figures<'_>, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let universe = Universe::make(UniverseSpec::default(), seed.0)?;
    let tasks = universe.stream(TASKS as usize);
    let queries: Vec<String> = tasks.iter().map(|task| task.world.query.clone()).collect();
    let loads: Vec<Load> = (0..REQUESTS)
        .map(|number| load(seed, &queries, number))
        .collect();

    figures.progress(format_args!("{REQUESTS} requests, shared batches"));
    let adapter = adapter(seed)?;
    let config = || {
        let mut config = config(path);
        let path = adapter.path().to_owned();
        config.adapters.insert(ADAPTER.to_owned(), path);
        config
    };
    let mut shared = config();
    // So few that requests have to give their memory back at times.
    shared.n_ctx = Some(CONTEXT);
    shared.shared_cells = Some(64);
    let shared = LlamaCpp::load(shared)?;
    let (ends, _) = run_load(&shared, &loads);
    let stats = shared.stats();
    figures.progress(format_args!("the same six times more"));
    let (growth, failed) = growth(&shared, &loads);
    forget(&shared)?;
    let after = shared.stats();
    drop(shared);

    figures.progress(format_args!("{REQUESTS} requests, deterministic"));
    let mut one_by_one = config();
    one_by_one.n_ctx = Some(CONTEXT);
    one_by_one.deterministic = true;
    let alone = LlamaCpp::load(one_by_one.clone())?;
    let deterministic = LlamaCpp::load(one_by_one)?;
    let (repeated, _) = run_load(&deterministic, &loads);

    let bare = Bare::load(path);
    let mut seen = Seen::default();
    for (load, (end, again)) in loads.iter().zip(ends.iter().zip(&repeated)) {
        seen.take(load, end, again, &alone, &bare)?;
    }
    seen.record(figures);
    figures.record(
        "1,000 requests, six times more: ended with neither answer nor reason",
        failed as f64,
        Bound::AtMost(0.0),
    );
    of_engine(figures, growth, stats, after);
    figures.record(
        "1,000 requests, deterministic: answers that are not the same bytes as alone",
        seen.unequal as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

/// What the engine says of itself, at the end and when its prefixes are forgotten.
fn of_engine(figures: &mut Figures<'_>, growth: f64, stats: EngineStats, after: EngineStats) {
    let number = |name: &str| format!("1,000 requests: {name}");
    let name = number("resident memory, sixth and seventh time over fourth and fifth");
    figures.record(&name, growth, Bound::AtMost(1.1));
    let name = number("still computed or waiting at the end");
    let left = (after.active + after.waiting) as f64;
    figures.record(&name, left, Bound::AtMost(0.0));
    let name = number("cells in use once the prefixes are forgotten");
    figures.record(&name, after.used_cells as f64, Bound::AtMost(0.0));
    let name = number("begun anew for want of memory");
    figures.record(&name, stats.preempted as f64, Bound::None);
    let tokens = stats.decoded_tokens as f64;
    let name = number("tokens a batch");
    figures.record(&name, tokens / stats.batches as f64, Bound::None);
    let reused = stats.reused_tokens as f64;
    let name = number("tokens not decoded again, share");
    figures.record(&name, reused / (reused + tokens), Bound::None);
}
