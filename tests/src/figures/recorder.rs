//! The recorder that a group is given.

use std::{fmt, io, path::PathBuf, time::Instant};

use journeyman::contract::LanguageModel;
use quickstart::{Parts, default_model};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Options, Outcome, code,
    saved::{Figure, Saved},
    stats::Interval,
};

/// What a figure has to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// It is reported alone.
    None,
    /// At least this.
    AtLeast(f64),
    /// More than this.
    Above(f64),
    /// At most this.
    AtMost(f64),
    /// Less than this.
    Below(f64),
}

impl Bound {
    /// Whether a value reaches it. A value that is not a number reaches no bound.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtLeast(bound) => value >= bound,
            Self::Above(bound) => value > bound,
            Self::AtMost(bound) => value <= bound,
            Self::Below(bound) => value < bound,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::AtLeast(bound) => write!(f, ">= {bound}"),
            Self::Above(bound) => write!(f, "> {bound}"),
            Self::AtMost(bound) => write!(f, "<= {bound}"),
            Self::Below(bound) => write!(f, "< {bound}"),
        }
    }
}

/// Records figures: lines on the output, progress on the error stream, results on disk.
pub struct Figures<'a> {
    options: Options,
    saved: Saved,
    out: &'a mut dyn io::Write,
    progress: &'a mut dyn io::Write,
    start: Instant,
    short: usize,
    failure: Option<io::Error>,
}

impl<'a> Figures<'a> {
    /// A recorder for one seed of a group; with `resume`, it starts from what this program saved.
    ///
    /// # Errors
    /// When what was saved cannot be used, or the program cannot be read.
    pub fn new(
        group: &str,
        options: Options,
        out: &'a mut dyn io::Write,
        progress: &'a mut dyn io::Write,
    ) -> io::Result<Self> {
        let this = code::of_this_program()?;
        let mut saved = Saved::new(group, options.seed.0, options.data.clone(), this);
        let mut other = None;
        if options.resume {
            (saved, other) = saved.resume(&options.out)?;
        }
        let mut figures = Self {
            options,
            saved,
            out,
            progress,
            start: Instant::now(),
            short: 0,
            failure: None,
        };
        if let Some((code, results)) = other {
            figures.progress(format_args!(
                "{results} saved results are of other code ({}) and are made anew",
                code::short(&code)
            ));
        }
        Ok(figures)
    }

    /// How to measure.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The SHA-256 of the program that measures.
    pub fn code(&self) -> &str {
        &self.saved.code
    }

    /// The model that acts, scores and writes: the one that is asked for, or the bundled model.
    ///
    /// # Errors
    /// As [`Parts::deterministic`].
    pub fn parts(&mut self, steps: usize) -> journeyman::Result<Parts> {
        let path = self.options.model.clone().unwrap_or_else(default_model);
        let parts = Parts::deterministic(&path, steps)?;
        self.subject("model", parts.model.capabilities().model.as_str());
        Ok(parts)
    }

    /// A path in the folder of real input; `None` without `--data`, or when it is not there: then
    /// [`Figures::skip`] what needs it.
    pub fn data(&self, path: &str) -> Option<PathBuf> {
        let path = self.options.data.as_ref()?.join(path);
        path.exists().then_some(path)
    }

    /// Records a figure. One that is not a number is short, whatever its bound.
    pub fn record(&mut self, name: &str, value: f64, bound: Bound) {
        let ok = value.is_finite() && bound.holds(value);
        self.short += usize::from(!ok);
        let result = if ok { "ok" } else { "short" };
        self.line(format_args!(
            "{name}, {}, {bound}, {result}",
            rounded(value)
        ));
        self.keep(name, value.is_finite().then_some(value), bound, result);
    }

    /// Records a mean as `name`, and the ends of its interval as `name.low` and `name.high`, with a bound each.
    pub fn interval(&mut self, name: &str, interval: &Interval, low: Bound, high: Bound) {
        self.record(name, interval.mean, Bound::None);
        self.record(&format!("{name}.low"), interval.low, low);
        self.record(&format!("{name}.high"), interval.high, high);
    }

    /// Says what is measured, such as the model, and keeps it beside the figures.
    pub fn subject(&mut self, name: &str, what: &str) {
        self.progress(format_args!("{name}: {what}"));
        self.saved.subjects.insert(name.to_owned(), what.to_owned());
    }

    /// Says that a figure was not measured, and why.
    pub fn skip(&mut self, name: &str, reason: &str) {
        self.line(format_args!("{name}, -, none, skipped: {reason}"));
        self.keep(name, None, Bound::None, "skipped");
    }

    /// Says how far the work is, with the seconds since the start.
    pub fn progress(&mut self, what: fmt::Arguments<'_>) {
        let seconds = self.start.elapsed().as_secs();
        let written = writeln!(self.progress, "[{seconds:>5} s] {what}");
        self.check(written);
    }

    /// Computes something once: it is saved under the key, and a resumed run takes it from there. The key says all
    /// that the result depends on beside the program, the seed and the data.
    ///
    /// # Errors
    /// Those of `compute`, and those of saving.
    pub fn once<T: Serialize + DeserializeOwned>(
        &mut self,
        key: &str,
        compute: impl FnOnce() -> Result<T, Box<dyn std::error::Error + Send + Sync>>,
    ) -> Result<T, Box<dyn std::error::Error + Send + Sync>> {
        if let Some(value) = self.saved.results.get(key) {
            let value = serde_json::from_value(value.clone())?;
            self.progress(format_args!("{key}: from the run before"));
            return Ok(value);
        }
        self.progress(format_args!("{key} …"));
        let value = compute()?;
        let json = serde_json::to_value(&value)?;
        self.saved.results.insert(key.to_owned(), json);
        self.saved.save(&self.options.out)?;
        Ok(value)
    }

    /// Runs a group to its end and saves it. Gives how many figures are short.
    pub(super) fn finish(
        mut self,
        group: fn(&mut Figures<'_>) -> Outcome,
    ) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
        group(&mut self)?;
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        self.saved.finished = true;
        self.saved.save(&self.options.out)?;
        Ok(self.short)
    }

    fn keep(&mut self, name: &str, value: Option<f64>, bound: Bound, result: &str) {
        let known = self.saved.figures.iter().any(|known| known.name == name);
        self.saved.figures.push(Figure {
            name: name.to_owned(),
            value,
            bound: bound.to_string(),
            result: result.to_owned(),
        });
        if known {
            let twice = format!("the figure {name} was recorded twice");
            self.failure.get_or_insert(io::Error::other(twice));
        }
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        let written = writeln!(self.out, "{line}");
        self.check(written);
    }

    /// A stream that is gone ends the run at its end, not in the middle of a measurement.
    fn check(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failure.get_or_insert(error);
        }
    }
}

impl fmt::Debug for Figures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Figures")
            .field("options", &self.options)
            .field("saved", &self.saved)
            .field("short", &self.short)
            .finish_non_exhaustive()
    }
}

/// Four decimals; whole numbers as they are.
pub(super) fn rounded(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value}")
    } else {
        format!("{value:.4}")
    }
}
