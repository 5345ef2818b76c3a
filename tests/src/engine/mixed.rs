//! A thousand mixed requests from 32 tasks at once, some of which are taken back or are out of time.

mod compare;

use std::{fs, path::Path, sync::Mutex, thread, time::Duration};

use futures::{
    executor::block_on,
    future::{Either, select},
};
use futures_timer::Delay;
use journeyman::{
    ErrorKind, Seed,
    contract::{GenerateRequest, Generation, LanguageModel, ScoreRequest, Scorer, TokenScores},
    domain::{Message, Prompt, Sampling, Speaker},
};
use journeyman_llama_cpp::LlamaCpp;
use journeyman_toolworld::stream::{Universe, UniverseSpec};

use self::compare::{Same, compared};
use super::{bare::Bare, config};
use crate::figures::{Bound, Figures, Outcome};

const REQUESTS: u64 = 1000;
const TASKS: u64 = 32;
/// Tokens of the longest request.
const CONTEXT: u32 = 256;
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
            Self::Write(request) => Self::Write(GenerateRequest {
                time_limit,
                ..request.clone()
            }),
            Self::Score(request) => Self::Score(ScoreRequest {
                time_limit,
                ..request.clone()
            }),
        }
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
    let prompt = Prompt {
        messages: vec![Message::data(Speaker::User, text)],
        open: Vec::new(),
    };
    let limit = match draw("deadline") {
        d if d < 0.1 => Duration::from_micros((draw("limit") * 20_000.0) as u64),
        _ => Duration::from_secs(300),
    };
    let dropped = draw("dropped") < 0.15;
    let ask = match draw("kind") {
        kind if kind < 0.35 => Ask::Score(ScoreRequest {
            prompt,
            continuations: (0..1 + number % 7)
                .map(|n| queries[((number + n) % TASKS) as usize].clone())
                .collect(),
            max_continuation_tokens: 32,
            time_limit: limit,
            adapter: None,
        }),
        kind => {
            let mut request = GenerateRequest::greedy(prompt, 8 + number as usize % 150);
            request.time_limit = limit;
            if kind > 0.8 {
                request.sampling = Sampling {
                    temperature: 0.8,
                    top_p: 1.0,
                    seed: seed.derive("draw", number),
                };
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

/// All requests, each task's one after the other on a thread of its own.
fn run_load(model: &LlamaCpp, loads: &[Load]) -> (Vec<End>, f64) {
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
    let sizes = sizes.into_inner().unwrap_or_default();
    let early = sizes.get(sizes.len() / 3).copied().unwrap_or(f64::NAN);
    let late = sizes.last().copied().unwrap_or(f64::NAN);
    let ends = ends.into_inner().unwrap_or_default();
    let ends = ends
        .into_iter()
        .map(|end| end.unwrap_or(End::Failed("no answer".into())));
    (ends.collect(), late / early)
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

pub(super) fn run(figures: &mut Figures<'_>, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let universe = Universe::make(UniverseSpec::default(), seed.0)?;
    let tasks = universe.stream(TASKS as usize);
    let queries: Vec<String> = tasks.iter().map(|task| task.world.query.clone()).collect();
    let loads: Vec<Load> = (0..REQUESTS)
        .map(|number| load(seed, &queries, number))
        .collect();

    figures.progress(format_args!("{REQUESTS} requests, shared batches"));
    let mut shared = config(path);
    // So few that requests have to give their memory back at times.
    shared.n_ctx = Some(CONTEXT);
    shared.shared_cells = Some(64);
    let shared = LlamaCpp::load(shared)?;
    let (ends, growth) = run_load(&shared, &loads);
    let stats = shared.stats();
    forget(&shared)?;
    let after = shared.stats();
    drop(shared);

    figures.progress(format_args!("{REQUESTS} requests, deterministic"));
    let mut one_by_one = config(path);
    one_by_one.n_ctx = Some(CONTEXT);
    one_by_one.deterministic = true;
    let alone = LlamaCpp::load(one_by_one.clone())?;
    let deterministic = LlamaCpp::load(one_by_one)?;
    let (repeated, _) = run_load(&deterministic, &loads);

    let bare = Bare::load(path);
    let mut seen = Seen::default();
    let mut unequal = 0;
    for (load, (end, again)) in loads.iter().zip(ends.iter().zip(&repeated)) {
        let answered = [end, again]
            .iter()
            .any(|end| matches!(end, End::Answered(_)));
        let want = answered
            .then(|| block_on(ask(&alone, &load.ask.patient())))
            .transpose()?;
        seen.note(end, want.as_ref(), load, &bare);
        match again {
            End::Answered(answer) => unequal += u64::from(Some(answer) != want.as_ref()),
            End::Failed(reason) => return Err(format!("deterministic mode: {reason}").into()),
            End::TakenBack | End::OutOfTime => {}
        }
    }
    seen.record(figures);
    let number = |name: &str| format!("1,000 requests: {name}");
    let name = number("resident memory at the end over that after a third");
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
    figures.record(
        "1,000 requests, deterministic: answers that are not the same bytes as alone",
        unequal as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

#[derive(Default)]
struct Seen {
    answered: u64,
    taken_back: u64,
    out_of_time: u64,
    ties: u64,
    different: u64,
    first_failure: Option<String>,
}

impl Seen {
    fn record(&self, figures: &mut Figures<'_>) {
        if let Some(reason) = &self.first_failure {
            figures.progress(format_args!("failed without reason: {reason}"));
        }
        let ended = self.answered + self.taken_back + self.out_of_time;
        let answered = self.answered as f64;
        let some = Bound::AtLeast(1.0);
        let none = Bound::AtMost(0.0);
        for (name, value, bound) in [
            ("answered", answered, some),
            ("taken back", self.taken_back as f64, some),
            ("out of time", self.out_of_time as f64, some),
            (
                "ended with neither answer nor reason",
                (REQUESTS - ended) as f64,
                none,
            ),
            (
                "answers that part at a near tie, share",
                self.ties as f64 / answered,
                Bound::None,
            ),
            ("answers that differ otherwise", self.different as f64, none),
        ] {
            figures.record(&format!("1,000 requests: {name}"), value, bound);
        }
    }

    fn note(&mut self, end: &End, want: Option<&Answer>, load: &Load, bare: &Bare) {
        match (end, want) {
            (End::TakenBack, _) => self.taken_back += 1,
            (End::OutOfTime, _) => self.out_of_time += 1,
            (End::Failed(reason), _) => {
                self.first_failure.get_or_insert_with(|| reason.clone());
            }
            (End::Answered(got), Some(want)) => {
                self.answered += 1;
                match compared(got, want, load, bare) {
                    Same::Equal => {}
                    Same::Tied => self.ties += 1,
                    Same::Different => self.different += 1,
                }
            }
            (End::Answered(_), None) => self.different += 1,
        }
    }
}
