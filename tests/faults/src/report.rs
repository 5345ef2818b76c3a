//! The figures: a line for each, `name, value, bound, ok|short`, as `tests/figures.sh` prints them.

use std::{fmt, time::Instant};

/// What a scenario gives back: an error when it could not be carried out.
pub(crate) type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Prints figures and counts those that are short.
#[derive(Debug)]
pub(crate) struct Report {
    start: Instant,
    /// How many are short.
    pub short: usize,
}

impl Report {
    /// Nothing so far.
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            short: 0,
        }
    }

    /// A figure that may be at most so much.
    pub(crate) fn at_most(&mut self, name: impl fmt::Display, value: f64, bound: f64) {
        self.line(name, value, format_args!("<= {bound}"), value <= bound);
    }

    /// A figure that must be at least so much.
    pub(crate) fn at_least(&mut self, name: impl fmt::Display, value: f64, bound: f64) {
        self.line(name, value, format_args!(">= {bound}"), value >= bound);
    }

    /// A figure that must not be other than 0.
    pub(crate) fn none(&mut self, name: impl fmt::Display, value: u64) {
        self.at_most(name, value as f64, 0.0);
    }

    /// A figure without a bound.
    pub(crate) fn told(&mut self, name: impl fmt::Display, value: f64) {
        self.line(name, value, format_args!("none"), true);
    }

    #[allow(clippy::print_stdout)]
    fn line(&mut self, name: impl fmt::Display, value: f64, bound: fmt::Arguments<'_>, ok: bool) {
        self.short += usize::from(!ok);
        let value = match value.fract() == 0.0 {
            true => format!("{value}"),
            false => format!("{value:.4}"),
        };
        println!(
            "{name}, {value}, {bound}, {}",
            if ok { "ok" } else { "short" }
        );
    }

    /// Says on the error stream how far the work is, or what went wrong.
    #[allow(clippy::print_stderr)]
    pub(crate) fn progress(&self, what: impl fmt::Display) {
        eprintln!("[{:>5} s] {what}", self.start.elapsed().as_secs());
    }
}
