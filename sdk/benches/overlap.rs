//! The overlap graph against all pairs, side by side: `cargo bench -p journeyman --bench overlap -- [--seed N] [--rounds N]
//! [--sizes 1000,10000]`. A line for each figure: name, value, bound, ok or short; status 1 when one is short.
//!
//! Segments are those of a library that lives long: the more there are, the more tools there are, some twenty segments
//! each. The words that tools have in common (verbs, parameters, places, how services word a refusal) grow with the square
//! root of the segments, as vocabularies do (Heaps' law), and how requests are worded stays the same. *Lexical* is a graph filled with
//! segments without embeddings, one by one, all that belongs to it included. *Dense* is what filling it takes longer when
//! each has an embedding of 256 components. Times are medians over the rounds, each of which times all sizes in turn, with
//! about as many segments of each: ten graphs of 1,000 beside one of 10,000. All pairs are compared once, as sets of numbers that
//! are there already.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs
)]
// What the SDK does not do a bench has to: read a clock and its arguments.
#![allow(clippy::disallowed_methods)]

#[path = "../../tests/src/figures/median.rs"]
mod median;

use std::{
    collections::{BTreeSet, HashMap},
    hint::black_box,
    process::ExitCode,
    time::Instant,
};

use journeyman::{
    Seed,
    contract::Embedding,
    domain::SegmentId,
    papers::hisme::{
        OverlapGraph, OverlapOptions, Segment, SegmentArgument, SegmentCall, SegmentKind,
        ValueSource,
    },
};
use median::median;
use rand_chacha::{ChaCha8Rng, rand_core::Rng};

const DIMENSIONS: usize = 256;
/// How many segments there are for each tool.
const PER_TOOL: usize = 20;
/// The share of all embeddings that is the same: with real embedders unrelated texts are alike too.
const ALIKE: f32 = 0.3;

const REQUESTS: [&str; 10] = [
    "could you {} beside the {}",
    "please {} and mind the {}",
    "we need to {} before lunch, near the {}",
    "somebody asked to {} by the {}",
    "it is time to {} with the {}",
    "the crew wants you to {} under the {}",
    "help me {} at the {}",
    "{} right now, next to the {}",
    "one last job: {} behind the {}",
    "while you look at the {1}, {0}",
];

struct Draws(ChaCha8Rng);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    /// Roughly normal, by twelve uniform numbers.
    fn normal(&mut self) -> f32 {
        let mut unit = || (self.0.next_u64() >> 40) as f32 / (1_u64 << 24) as f32;
        (0..12).map(|_| unit()).sum::<f32>() - 6.0
    }

    fn direction(&mut self) -> Vec<f32> {
        unit((0..DIMENSIONS).map(|_| self.normal()).collect())
    }
}

fn unit(mut row: Vec<f32>) -> Vec<f32> {
    let length = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    row.iter_mut().for_each(|x| *x /= length);
    row
}

/// A word for a number.
fn word(kind: char, mut number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu",
        "za",
    ];
    let mut word = String::from(kind);
    for _ in 0..4 {
        word.push_str(SYLLABLES[number % 16]);
        number /= 16;
    }
    word
}

struct Tool {
    name: String,
    helper: String,
    parameter: String,
    refusal: String,
    direction: Vec<f32>,
}

/// How many words of a kind there are beside so many segments, where there are `of_1000` beside a thousand.
fn vocabulary(of_1000: usize, segments: usize) -> usize {
    (of_1000 as f64 * (segments as f64 / 1_000.0).sqrt()).ceil() as usize
}

fn tools(segments: usize, draws: &mut Draws) -> Vec<Tool> {
    let (verbs, parameters) = (vocabulary(40, segments), vocabulary(30, segments));
    let refusals = vocabulary(5, segments);
    let tool = |number: usize| {
        // Two tools to a noun.
        let noun = word('n', number / 2);
        let refusal = draws.below(refusals);
        Tool {
            name: format!("{}_{noun}", word('v', draws.below(verbs))),
            helper: format!("{}_{noun}", word('v', draws.below(verbs))),
            parameter: word('p', draws.below(parameters)),
            refusal: format!("{} {}", word('r', refusal), word('q', refusal)),
            direction: draws.direction(),
        }
    };
    (0..segments.div_ceil(PER_TOOL)).map(tool).collect()
}

fn segment(
    number: usize,
    tools: &[Tool],
    places: usize,
    common: &[f32],
    draws: &mut Draws,
) -> Segment {
    let tool = &tools[draws.below(tools.len())];
    let asked = tool.name.replace('_', " the ");
    let place = word('l', draws.below(places));
    let request = REQUESTS[draws.below(REQUESTS.len())];
    let fragment = if request.contains("{1}") {
        request.replace("{1}", &place).replace("{0}", &asked)
    } else {
        request.replacen("{}", &asked, 1).replacen("{}", &place, 1)
    };
    let call = |tool: &str, arguments: Vec<SegmentArgument>, refused| {
        SegmentCall::new(tool.to_owned(), arguments, refused)
    };
    let argument = |value: usize| {
        SegmentArgument::new(
            tool.parameter.clone(),
            value.to_string(),
            ValueSource::Agent,
        )
    };
    let refused = draws.below(10) < 4;
    let mut calls = vec![
        call(&tool.helper, Vec::new(), false),
        call(&tool.name, vec![argument(draws.below(99))], false),
    ];
    let mut errors = Vec::new();
    if refused {
        calls.insert(0, call(&tool.name, vec![argument(draws.below(99))], true));
        errors.push(format!("{} {}", tool.refusal, tool.helper));
    }
    let row = tool.direction.iter().zip(common);
    let row = row.map(|(own, common)| own + ALIKE * common + 0.03 * draws.normal());
    Segment::new(
        SegmentId::new(format!("run/{number:06}#0")),
        SegmentKind::Trace {
            attempt: format!("run/{number:06}").as_str().into(),
            turn: 0,
        },
        fragment,
    )
    .with_tasks(vec![format!("task-{number}").as_str().into()])
    .with_calls(calls)
    .with_errors(errors)
    .with_changes(vec!["ok".to_owned(), "done".to_owned()])
    .with_success(true)
    .with_embedding(Embedding::new(unit(row.collect())).expect("finite"))
}

fn segments(count: usize, seed: Seed) -> Vec<Segment> {
    let mut draws = Draws(seed.derive("overlap", count as u64).rng());
    let tools = tools(count, &mut draws);
    let places = vocabulary(50, count);
    let common = draws.direction();
    let one = |number| segment(number, &tools, places, &common, &mut draws);
    (0..count).map(one).collect()
}

fn options(count: usize) -> OverlapOptions {
    let mut options = OverlapOptions::default();
    options.traces = count;
    options
}

fn filled(segments: Vec<Segment>) -> OverlapGraph {
    let mut graph = OverlapGraph::new(options(segments.len())).unwrap();
    for segment in segments {
        graph.insert(segment).unwrap();
    }
    graph
}

/// An edge: the numbers of its segments and its weight.
type Found = Vec<(usize, usize, f64)>;

/// What all pairs are compared by, made before the clock runs.
struct AllPairs {
    sets: Vec<(Vec<u32>, Vec<u32>)>,
    embeddings: Vec<Embedding>,
}

impl AllPairs {
    fn new(segments: &[Segment]) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut set = |texts: BTreeSet<String>| {
            let mut set = Vec::new();
            for text in texts {
                let next = numbers.len() as u32;
                set.push(*numbers.entry(text).or_insert(next));
            }
            set.sort_unstable();
            set
        };
        let sets = segments.iter();
        let sets = sets.map(|one| (set(one.ngrams()), set(one.error_ngrams())));
        Self {
            sets: sets.collect(),
            embeddings: segments
                .iter()
                .filter_map(|one| one.embedding.clone())
                .collect(),
        }
    }

    fn edges(&self, options: &OverlapOptions, dense: bool) -> Found {
        let mut edges = Vec::new();
        for (i, (ngrams, errors)) in self.sets.iter().enumerate() {
            for (j, (others, other_errors)) in self.sets.iter().enumerate().skip(i + 1) {
                let cosine = if dense {
                    self.embeddings[i]
                        .cosine(&self.embeddings[j])
                        .clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let error = (options.error_factor * jaccard(errors, other_errors)).min(1.0);
                let weight = options.ngram * jaccard(ngrams, others)
                    + options.embedding * cosine
                    + options.error * error;
                if weight >= options.threshold {
                    edges.push((i, j, weight));
                }
            }
        }
        edges
    }
}

fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (first, second) = (a[i], b[j]);
        both += usize::from(first == second);
        i += usize::from(first <= second);
        j += usize::from(second <= first);
    }
    if both == 0 {
        return 0.0;
    }
    both as f64 / (a.len() + b.len() - both) as f64
}

fn edges_of(graph: &OverlapGraph) -> Found {
    let number = |id: &SegmentId| id.as_str()[4..10].parse().unwrap();
    let edges = graph.edges();
    let edges = edges.iter();
    edges
        .map(|edge| (number(edge.from), number(edge.to), edge.overlap.weight))
        .collect()
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let done = black_box(work());
    (started.elapsed().as_secs_f64() * 1e3, done)
}

/// Prints a figure; whether it is short.
fn figure(name: &str, value: f64, bound: Option<f64>) -> bool {
    let short = bound.is_some_and(|bound| value > bound);
    let bound = bound.map_or("none".to_owned(), |bound| format!("<= {bound}"));
    let result = if short { "short" } else { "ok" };
    println!("{name}, {value:.4}, {bound}, {result}");
    short
}

/// Segments of one number, and how long it took to fill graphs with them, in milliseconds: by words alone, and what
/// embeddings add.
struct Size {
    count: usize,
    with: Vec<Segment>,
    without: Vec<Segment>,
    lexical: Vec<f64>,
    dense: Vec<f64>,
}

impl Size {
    fn new(count: usize, seed: Seed) -> Self {
        let with = segments(count, seed);
        let mut without = with.clone();
        for segment in &mut without {
            segment.embedding = None;
        }
        Self {
            count,
            with,
            without,
            lexical: Vec::new(),
            dense: Vec::new(),
        }
    }

    fn name(&self, what: &str) -> String {
        format!("overlap_{}_{what}", self.count)
    }

    /// Whether the edges are others than those of all pairs.
    fn check(&self) -> bool {
        let all_pairs = AllPairs::new(&self.with);
        let options = options(self.count);
        let (by_words, by_all) = (filled(self.without.clone()), filled(self.with.clone()));
        let (pairs_lexical, expect_words) = timed(|| all_pairs.edges(&options, false));
        let (pairs, expect_all) = timed(|| all_pairs.edges(&options, true));
        let differing = differences(&edges_of(&by_words), &expect_words)
            + differences(&edges_of(&by_all), &expect_all);
        let counts = [
            ("edges_by_words", expect_words.len()),
            ("edges", expect_all.len()),
        ];
        for (what, count) in counts {
            figure(&self.name(what), count as f64, None);
        }
        let what = self.name("edges_not_as_all_pairs");
        let short = figure(&what, differing as f64, Some(0.0));
        figure(&self.name("all_pairs_lexical_ms"), pairs_lexical, None);
        figure(&self.name("all_pairs_ms"), pairs, None);
        short
    }

    /// Fills so many graphs, and notes how long one took.
    fn time(&mut self, graphs: usize) {
        let fill = |segments: &[Segment]| {
            let times = (0..graphs).map(|_| {
                let segments = segments.to_vec();
                // Dropped behind the clock.
                let (time, graph) = timed(|| filled(segments));
                drop(graph);
                time
            });
            times.sum::<f64>() / graphs as f64
        };
        let (words, all) = (fill(&self.without), fill(&self.with));
        self.lexical.push(words);
        self.dense.push(all - words);
    }
}

/// The exponent with which times grow from one size to another: the median over the rounds, each of which timed both.
fn growth(few: &Size, many: &Size, times: fn(&Size) -> &[f64]) -> f64 {
    let rounds = times(few).iter().zip(times(many));
    let sizes = (many.count as f64 / few.count as f64).ln();
    let exponents: Vec<f64> = rounds
        .map(|(few, many)| (many / few).ln() / sizes)
        .collect();
    median(exponents)
}

/// How many edges only one of the two has, or has with another weight.
fn differences(found: &Found, expect: &Found) -> usize {
    let bits = |edges: &Found| -> BTreeSet<(usize, usize, u64)> {
        edges
            .iter()
            .map(|(i, j, weight)| (*i, *j, weight.to_bits()))
            .collect()
    };
    bits(found).symmetric_difference(&bits(expect)).count()
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let seed = Seed(option("--seed").map_or(1, |seed| seed.parse().expect("a seed")));
    let rounds = option("--rounds").map_or(5, |rounds| rounds.parse().expect("a number"));
    let sizes = option("--sizes").unwrap_or("1000,10000".to_owned());
    let sizes = sizes.split(',').map(|size| size.parse().expect("a size"));
    let mut sizes: Vec<Size> = sizes.map(|count| Size::new(count, seed)).collect();
    let mut short = false;
    for size in &sizes {
        short |= size.check();
    }
    let most = sizes
        .iter()
        .map(|size| size.count)
        .max()
        .unwrap_or_default();
    for _ in 0..rounds {
        // All sizes in turn.
        for size in &mut sizes {
            size.time(most / size.count);
        }
    }
    for size in &sizes {
        figure(&size.name("lexical_ms"), median(size.lexical.clone()), None);
        figure(&size.name("dense_ms"), median(size.dense.clone()), None);
    }
    if let [few, .., many] = sizes.as_slice() {
        let lexical = growth(few, many, |size| &size.lexical);
        short |= figure("overlap_lexical_growth", lexical, Some(1.3));
        let dense = growth(few, many, |size| &size.dense);
        figure("overlap_dense_growth", dense, None);
    }
    ExitCode::from(u8::from(short))
}
