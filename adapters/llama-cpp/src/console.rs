//! For the programs of this repository that people run: this crate's warnings as lines, and a line from time to time while something
//! takes long.

use std::{
    collections::HashMap,
    fmt::{self, Write},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    callsite::Identifier,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::set_global_default,
};

/// A warning of one kind is printed once in this time.
const PAUSE: Duration = Duration::from_secs(60);
/// A [`Pulse`] is never silent for longer.
const SILENCE: Duration = Duration::from_secs(8);

/// Prints this crate's warnings, one line each, in a program that has no `tracing` subscriber: processor instructions that the
/// build leaves unused, another number of threads beside a busy program, a context beyond the trained one. A warning of one kind
/// about one model is printed once a minute at most.
///
/// False where the program has a subscriber; nothing changes then. There is one for the whole program: a host that has its own sets it
/// first, because after this it cannot. The warnings of a model in a worker process ([`IsolatedLlama`](crate::IsolatedLlama)) are not
/// printed: the worker's standard error goes into the error of its end.
///
/// ```
/// journeyman_llama_cpp::print_warnings(|line| println!("warning: {line}"));
/// ```
#[doc(hidden)]
pub fn print_warnings(print: impl Fn(&str) + Send + Sync + 'static) -> bool {
    set_global_default(Warnings::new(print)).is_ok()
}

/// The subscriber of [`print_warnings`].
struct Warnings {
    print: Box<dyn Fn(&str) + Send + Sync>,
    /// When a warning was printed last, by its place in the code and its subject.
    printed: Mutex<HashMap<(Identifier, String), Instant>>,
}

impl Warnings {
    fn new(print: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            print: Box::new(print),
            printed: Mutex::default(),
        }
    }

    fn is_due(&self, place: Identifier, subject: String) -> bool {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = (place, subject);
        if printed.get(&kind).is_some_and(|at| at.elapsed() < PAUSE) {
            return false;
        }
        printed.insert(kind, Instant::now());
        true
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let own = metadata.target().split("::").next() == Some(env!("CARGO_CRATE_NAME"));
        own && metadata.is_event() && *metadata.level() <= Level::WARN
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        if self.is_due(event.metadata().callsite(), line.subject) {
            (self.print)(&format!("{}{}", line.message, line.facts));
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The message of an event, and its fields behind it.
#[derive(Debug, Default)]
struct Line {
    message: String,
    facts: String,
    /// The model or adapter that the event is about; empty where it names none.
    subject: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let name = field.name();
        if ["model", "adapter"].contains(&name) {
            self.subject = format!("{value:?}");
        }
        let separator = if self.facts.is_empty() { "; " } else { ", " };
        // Writing into a text does not fail.
        let _ = match name {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.facts, "{separator}{name}: {value:?}"),
        };
    }
}

/// Says what goes on and for how long whenever nothing was said for eight seconds, until it is dropped. For the programs of this
/// repository.
///
/// ```
/// let pulse = journeyman_llama_cpp::Pulse::new("loading the model", |line| println!("{line}"));
/// // Work that takes long; `pulse.step` names the next part of it.
/// drop(pulse);
/// ```
#[doc(hidden)]
#[derive(Debug)]
pub struct Pulse {
    what: Arc<Mutex<String>>,
    /// `None` where the system starts no thread: then there are no lines.
    spoke: Option<Sender<()>>,
}

impl Pulse {
    /// Begins; `say` is called with a line on a thread of its own.
    pub fn new(what: &str, say: impl Fn(&str) + Send + 'static) -> Self {
        Self::each(SILENCE, what, say)
    }

    /// Begins, with another silence than eight seconds.
    pub fn each(silence: Duration, what: &str, say: impl Fn(&str) + Send + 'static) -> Self {
        let what = Arc::new(Mutex::new(what.to_owned()));
        let (spoke, heard) = mpsc::channel();
        let (start, now) = (Instant::now(), what.clone());
        let thread = thread::Builder::new().name("progress".to_owned());
        let spawned = thread.spawn(move || {
            loop {
                match heard.recv_timeout(silence) {
                    Ok(()) => {}
                    // The sender is gone.
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        let what = now.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        say(&format!("  ... {what}, {} s", start.elapsed().as_secs()));
                    }
                }
            }
        });
        Self {
            what,
            spoke: spawned.ok().map(|_| spoke),
        }
    }

    /// Says from now on that this goes on.
    pub fn step(&self, what: &str) {
        what.clone_into(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Something else was said just now, so that the next line can wait.
    pub fn spoke(&self) {
        if let Some(spoke) = &self.spoke {
            // The thread ends only with this value.
            let _ = spoke.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::subscriber::with_default;

    use super::*;

    fn lines() -> (
        Arc<Mutex<Vec<String>>>,
        impl Fn(&str) + Send + Sync + 'static,
    ) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let keep = move |line: &str| kept.lock().unwrap().push(line.to_owned());
        (lines, keep)
    }

    #[test]
    fn warnings_of_this_crate_are_lines_and_each_comes_once_a_minute_for_a_model() {
        let (lines, keep) = lines();
        with_default(Warnings::new(keep), || {
            for (model, threads) in [("lamp", 1), ("lamp", 2), ("kettle", 3), ("lamp", 4)] {
                tracing::warn!(model, threads, of = 4, "another number of threads");
            }
            tracing::error!("it ended");
            tracing::info!("all is well");
            tracing::warn!(target: "another_crate::part", "not ours");
            tracing::warn!(target: "journeyman_llama_cpp_tools", "not ours either");
        });
        assert_eq!(
            *lines.lock().unwrap(),
            [
                "another number of threads; model: lamp, threads: 1, of: 4",
                "another number of threads; model: kettle, threads: 3, of: 4",
                "it ended"
            ]
        );
    }

    #[test]
    fn a_pulse_says_what_goes_on_until_it_is_dropped() {
        let (lines, keep) = lines();
        let said = |what: &str| {
            let begin = format!("  ... {what}, ");
            lines
                .lock()
                .unwrap()
                .iter()
                .any(|line| line.starts_with(&begin))
        };
        let wait_for = |what: &str| {
            let start = Instant::now();
            while !said(what) {
                assert!(start.elapsed() < Duration::from_secs(60), "{what}");
                thread::sleep(Duration::from_millis(1));
            }
        };
        let pulse = Pulse::each(Duration::from_millis(1), "reading", keep);
        wait_for("reading");
        pulse.step("writing");
        pulse.spoke();
        wait_for("writing");
    }
}
