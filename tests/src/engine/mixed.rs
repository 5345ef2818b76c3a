//! A thousand mixed requests from 32 tasks at once, some of which are taken back or are out of time.

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
use llama_cpp_2::{llama_batch::LlamaBatch, token::LlamaToken};

use super::{bare::Bare, config};
use crate::figures::{Bound, Figures, Outcome};

const REQUESTS: u64 = 1000;
const TASKS: u64 = 32;
/// Two log-probabilities, or a drawn number and a border, this near are a tie.
const TIE: f64 = 1e-3;

enum Ask {
    Write(GenerateRequest),
    Score(ScoreRequest),
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
            let mut request = GenerateRequest::greedy(prompt, 8 + number as usize % 40);
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
    shared.shared_cells = Some(256);
    let shared = LlamaCpp::load(shared)?;
    let (ends, growth) = run_load(&shared, &loads);
    let stats = shared.stats();
    drop(shared);

    figures.progress(format_args!("{REQUESTS} requests, deterministic"));
    let mut one_by_one = config(path);
    one_by_one.deterministic = true;
    let alone = LlamaCpp::load(one_by_one.clone())?;
    let deterministic = LlamaCpp::load(one_by_one)?;
    let (repeated, _) = run_load(&deterministic, &loads);

    let bare = Bare::load(path);
    let mut seen = Seen::default();
    let mut unequal = 0;
    for (load, (end, again)) in loads.iter().zip(ends.iter().zip(&repeated)) {
        let mut patient = Load {
            ask: match &load.ask {
                Ask::Write(request) => Ask::Write(request.clone()),
                Ask::Score(request) => Ask::Score(request.clone()),
            },
            ..*load
        };
        match &mut patient.ask {
            Ask::Write(request) => request.time_limit = Duration::from_secs(300),
            Ask::Score(request) => request.time_limit = Duration::from_secs(300),
        }
        let answered = [end, again]
            .iter()
            .any(|end| matches!(end, End::Answered(_)));
        let want = answered
            .then(|| block_on(ask(&alone, &patient.ask)))
            .transpose()?;
        seen.note(end, want.as_ref(), load, &bare);
        match again {
            End::Answered(answer) => unequal += u64::from(Some(answer) != want.as_ref()),
            End::Failed(reason) => return Err(format!("deterministic mode: {reason}").into()),
            End::TakenBack | End::OutOfTime => {}
        }
    }
    if let Some(reason) = &seen.first_failure {
        figures.progress(format_args!("failed without reason: {reason}"));
    }
    let ended = seen.answered + seen.taken_back + seen.out_of_time;
    figures.record(
        "1,000 requests: answered",
        seen.answered as f64,
        Bound::None,
    );
    figures.record(
        "1,000 requests: taken back",
        seen.taken_back as f64,
        Bound::AtLeast(1.0),
    );
    figures.record(
        "1,000 requests: out of time",
        seen.out_of_time as f64,
        Bound::AtLeast(1.0),
    );
    figures.record(
        "1,000 requests: ended with neither answer nor reason",
        (REQUESTS - ended) as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "1,000 requests: answers that part at a near tie, share",
        seen.ties as f64 / seen.answered as f64,
        Bound::None,
    );
    figures.record(
        "1,000 requests: answers that differ otherwise",
        seen.different as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "1,000 requests: resident memory at the end over that after a third",
        growth,
        Bound::AtMost(1.1),
    );
    figures.record(
        "1,000 requests: begun anew for want of memory",
        stats.preempted as f64,
        Bound::None,
    );
    figures.record(
        "1,000 requests: tokens a batch",
        stats.decoded_tokens as f64 / stats.batches as f64,
        Bound::None,
    );
    figures.record(
        "1,000 requests: tokens not decoded again, share",
        stats.reused_tokens as f64 / (stats.reused_tokens + stats.decoded_tokens) as f64,
        Bound::None,
    );
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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Same {
    Equal,
    Tied,
    Different,
}

fn compared(got: &Answer, want: &Answer, load: &Load, bare: &Bare) -> Same {
    match (got, want, &load.ask) {
        (Answer::Scored(got), Answer::Scored(want), _) => scored(got, want),
        (Answer::Written(got), Answer::Written(want), Ask::Write(request)) => {
            written(got, want, request, bare)
        }
        _ => Same::Different,
    }
}

fn scored(got: &[TokenScores], want: &[TokenScores]) -> Same {
    let near = got.len() == want.len()
        && got.iter().zip(want).all(|(got, want)| {
            let pairs = got.logprobs.iter().zip(&want.logprobs);
            got.ids == want.ids
                && got.logprobs.len() == want.logprobs.len()
                && pairs.into_iter().all(|(a, b)| (a - b).abs() < TIE)
        });
    if near { Same::Equal } else { Same::Different }
}

fn written(got: &Generation, want: &Generation, request: &GenerateRequest, bare: &Bare) -> Same {
    let pairs = got.ids.iter().zip(&want.ids);
    let common = pairs.take_while(|(a, b)| a == b).count();
    let near = |at: usize| f64::from((got.logprobs[at] - want.logprobs[at]).abs()) < TIE;
    if got.prompt_ids != want.prompt_ids || !(0..common).all(near) {
        return Same::Different;
    }
    if got.ids.len() == common && want.ids.len() == common {
        return Same::Equal;
    }
    let (Some(&a), Some(&b)) = (got.ids.get(common), want.ids.get(common)) else {
        return Same::Different;
    };
    let tied = if request.sampling.temperature == 0.0 {
        near(common)
    } else {
        on_a_border(
            request,
            &[&got.prompt_ids, &got.ids[..common]].concat(),
            common,
            a,
            b,
            bare,
        )
    };
    if tied { Same::Tied } else { Same::Different }
}

/// Whether the drawn number is so near to both tokens' shares that either may be drawn.
fn on_a_border(
    request: &GenerateRequest,
    before: &[i32],
    place: usize,
    a: i32,
    b: i32,
    bare: &Bare,
) -> bool {
    let mut context = bare.context(before.len() as u32 + 64, before.len() as u32 + 64, 1);
    let mut batch = LlamaBatch::new(before.len(), 1);
    for (at, &id) in before.iter().enumerate() {
        let last = at + 1 == before.len();
        if batch.add(LlamaToken(id), at as i32, &[0], last).is_err() {
            return false;
        }
    }
    if context.decode(&mut batch).is_err() {
        return false;
    }
    let logits = context.get_logits_ith(before.len() as i32 - 1);
    let number = request.sampling.seed.derive("token", place as u64).unit();
    let temperature = f64::from(request.sampling.temperature);
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits
        .iter()
        .map(|&logit| (f64::from(logit - max) / temperature).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    let share = |token: i32| {
        let token = token as usize;
        let low: f64 = weights[..token].iter().sum::<f64>() / total;
        (low, low + weights[token] / total)
    };
    let near = |token: i32| {
        let (low, high) = share(token);
        number > low - TIE && number < high + TIE
    };
    near(a) && near(b)
}
