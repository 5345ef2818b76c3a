//! Progress of what takes long, on standard error: a bar on a terminal, lines elsewhere.

use std::{
    io::{self, IsTerminal},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::tell;

/// A command is never silent for longer.
const SILENCE: Duration = Duration::from_secs(8);

/// A spinner, or a bar of known length, on standard error where that is a terminal. Elsewhere a line that says what goes on and
/// for how long, whenever nothing was said for eight seconds. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// What goes on, for the lines.
    what: Arc<Mutex<String>>,
    /// `None` on a terminal.
    lines: Option<Sender<()>>,
}

impl Progress {
    /// Something of unknown length.
    pub(crate) fn of(what: &str) -> Self {
        Self::shown(ProgressBar::new_spinner(), what)
    }

    /// Something of so many parts.
    pub(crate) fn counted(what: &str, parts: usize) -> Self {
        let style = ProgressStyle::with_template(
            "{bar:30} {pos}/{len} {msg} ({elapsed}, about {eta} left)",
        );
        let bar = ProgressBar::new(parts as u64);
        Self::shown(
            style.map_or(bar.clone(), |style| bar.with_style(style)),
            what,
        )
    }

    fn shown(bar: ProgressBar, what: &str) -> Self {
        bar.set_message(what.to_owned());
        let what = Arc::new(Mutex::new(what.to_owned()));
        let lines = if io::stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(100));
            None
        } else {
            lines(what.clone())
        };
        Self { bar, what, lines }
    }

    /// What goes on now.
    pub(crate) fn step(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        what.clone_into(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Another part is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Prints a line that stays.
    pub(crate) fn note(&self, line: &str) {
        self.bar.suspend(|| tell(line));
        if let Some(lines) = &self.lines {
            // The thread ends only with this value.
            let _ = lines.send(());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A thread that prints a line whenever nothing was sent for a while, until the sender is dropped. Without a thread there are
/// no such lines.
fn lines(what: Arc<Mutex<String>>) -> Option<Sender<()>> {
    let (said, heard) = mpsc::channel();
    let start = Instant::now();
    let thread = thread::Builder::new().name("progress".to_owned());
    let spawned = thread.spawn(move || {
        loop {
            match heard.recv_timeout(SILENCE) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    let what = what.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    tell(&format!("  ... {what}, {} s", start.elapsed().as_secs()));
                }
            }
        }
    });
    spawned.ok().map(|_| said)
}
