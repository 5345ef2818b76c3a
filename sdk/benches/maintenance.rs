//! What a round of learning costs over a library that holds so many skills already: `cargo bench -p journeyman --bench
//! maintenance -- [--seed N] [--rounds N] [--sizes 1000,2000,4000,10000] [--family N] [--embed N]`. A line for each figure:
//! name, value, bound, ok or short; status 1 when one is short.
//!
//! A round is five tasks, and then micro and macro maintenance (`recipe::hisme_robust()`, its tiers raised so that all skills fit).
//! The skills are those of `testing::LargeLibrary`, brought in by `Journeyman::add` before the clock runs. *First* is the
//! first round, which finds all edges; *steady* is the median of the others. The sizes take turns. Growth is the slope of
//! the logarithm of the time over the logarithm of the size, by least squares over all sizes and between each two
//! neighbours. `--family N` makes families of N skills that all overlap, `--family 0` twenty families whatever the size.
//! `--embed N` gives the host an embedder of N components.
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

use std::{process::ExitCode, sync::Arc, time::Instant};

use futures::executor::block_on;
use journeyman::{
    Seed,
    recipe::{self, Recipe},
    run::{Journeyman, Options},
    testing::{LargeLibrary, WordEmbedder},
};
use median::median;

/// Fixed before anything was measured.
const MOST_GROWTH: f64 = 1.2;

fn recipe(skills: usize) -> Recipe {
    let mut recipe = recipe::hisme_robust();
    recipe.tiers.cache = 2 * skills + 1_000;
    recipe.tiers.reservoir = skills;
    recipe
}

struct Size {
    skills: usize,
    library: LargeLibrary,
    journeyman: Journeyman,
    add: f64,
    rounds: Vec<f64>,
}

impl Size {
    fn new(skills: usize, family: usize, embed: usize, seed: Seed) -> Self {
        let library = match family {
            0 => LargeLibrary::new(skills, seed).with_families_of(skills.div_ceil(20)),
            family => LargeLibrary::new(skills, seed).with_families_of(family),
        };
        let mut components = library.components();
        if embed > 0 {
            components.embedder = Some(Arc::new(WordEmbedder::new(embed)));
        }
        let options = Options::new(format!("growth-{skills}"), seed);
        let opening = Journeyman::open(components, recipe(skills), options);
        let journeyman = block_on(opening).expect("it opens");
        let all = library.skills();
        let (add, _) = timed(|| block_on(journeyman.add(all, "a large library")).expect("added"));
        Self {
            skills,
            library,
            journeyman,
            add,
            rounds: Vec::new(),
        }
    }

    fn round(&mut self) {
        let tasks = self.library.tasks(self.rounds.len());
        let (time, _) = timed(|| block_on(self.journeyman.learn(tasks)).expect("it learns"));
        self.rounds.push(time);
    }

    fn evaluate(&self) -> f64 {
        let tasks = self.library.tasks(0);
        timed(|| block_on(self.journeyman.evaluate(tasks)).expect("it evaluates")).0
    }
}

/// In milliseconds, of the processor where the system tells: other programs do not count then.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let on_processor = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanoseconds: f64 = told.split(' ').next()?.parse().ok()?;
        Some(nanoseconds / 1e6)
    };
    let (started, before) = (Instant::now(), on_processor());
    let done = work();
    let time = match (before, on_processor()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed().as_secs_f64() * 1e3,
    };
    (time, done)
}

/// Prints a figure; whether it is short.
fn figure(name: &str, value: f64, bound: Option<f64>) -> bool {
    let short = bound.is_some_and(|bound| value > bound);
    let bound = bound.map_or("none".to_owned(), |bound| format!("<= {bound}"));
    let result = if short { "short" } else { "ok" };
    println!("{name}, {value:.4}, {bound}, {result}");
    short
}

/// The slope of the logarithms, by least squares.
fn growth(times: &[(usize, f64)]) -> f64 {
    let logs = times.iter().map(|(n, time)| ((*n as f64).ln(), time.ln()));
    let logs: Vec<(f64, f64)> = logs.collect();
    let count = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|log| log.0), mean(|log| log.1));
    let covariance: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
    let variance: f64 = logs.iter().map(|log| (log.0 - x).powi(2)).sum();
    covariance / variance
}

/// Prints the times of all sizes and how they grow; whether the growth is short.
fn figures(what: &str, times: &[(usize, f64)], bound: Option<f64>) -> bool {
    for (skills, time) in times {
        figure(&format!("maintenance_{skills}_{what}_ms"), *time, None);
    }
    for pair in times.windows(2) {
        let name = format!("maintenance_{what}_growth_{}_{}", pair[0].0, pair[1].0);
        figure(&name, growth(pair), None);
    }
    times.len() > 1 && figure(&format!("maintenance_{what}_growth"), growth(times), bound)
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, default: usize| {
        option(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let seed = Seed(number("--seed", 1) as u64);
    let (rounds, family) = (number("--rounds", 5), number("--family", 5));
    let embed = number("--embed", 0);
    let sizes = option("--sizes").unwrap_or("1000,2000,4000,10000".to_owned());
    let sizes = sizes.split(',').map(|size| size.parse().expect("a size"));
    let mut sizes: Vec<Size> = sizes
        .map(|skills| Size::new(skills, family, embed, seed))
        .collect();
    for _ in 0..rounds {
        // All sizes in turn.
        sizes.iter_mut().for_each(Size::round);
    }
    let times = |of: &dyn Fn(&Size) -> f64| -> Vec<(usize, f64)> {
        sizes.iter().map(|size| (size.skills, of(size))).collect()
    };
    figures("add", &times(&|size| size.add), None);
    figures("evaluate", &times(&|size| size.evaluate()), None);
    let mut short = false;
    let first = times(&|size| size.rounds[0]);
    short |= figures("first", &first, Some(MOST_GROWTH));
    if rounds > 1 {
        let steady = times(&|size| median(size.rounds[1..].to_vec()));
        short |= figures("steady", &steady, Some(MOST_GROWTH));
    }
    ExitCode::from(u8::from(short))
}
