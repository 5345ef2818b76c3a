//! Progress of what takes long, on standard error: a bar on a terminal, lines elsewhere.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use journeyman_llama_cpp::Pulse;

use crate::output::{print_above, tell};

/// Lines are never further apart. Tests wait for no eight seconds.
const SILENCE: Duration = match cfg!(test) {
    true => Duration::from_millis(20),
    false => Duration::from_secs(8),
};

/// A spinner, or a bar of known length, on standard error where that is a terminal. Elsewhere a line that says what goes on and
/// for how long, whenever nothing was said for eight seconds. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The lines; `None` on a terminal.
    pulse: Option<Pulse>,
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
        let pulse = if io::stderr().is_terminal() && !cfg!(test) {
            bar.enable_steady_tick(Duration::from_millis(100));
            None
        } else {
            Some(Pulse::each(SILENCE, what, line))
        };
        print_above(Some(bar.clone()));
        Self { bar, pulse }
    }

    /// What goes on now.
    pub(crate) fn step(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        if let Some(pulse) = &self.pulse {
            pulse.step(what);
        }
    }

    /// Another part is done.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// Prints a line that stays.
    pub(crate) fn note(&self, line: &str) {
        tell(line);
        if let Some(pulse) = &self.pulse {
            pulse.spoke();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        print_above(None);
        self.bar.finish_and_clear();
    }
}

/// Prints a line of what goes on.
fn line(text: &str) {
    #[cfg(test)]
    tests::keep(text);
    tell(text);
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        sync::{Mutex, PoisonError},
        thread,
        time::{Duration, Instant},
    };

    /// The lines of all tests of this process.
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

    pub(super) fn keep(line: &str) {
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line.to_owned());
    }

    /// Waits, a minute at most, for a line that says that this goes on; false where none comes.
    pub(crate) fn says(what: &str) -> bool {
        let begin = format!("  ... {what}, ");
        let start = Instant::now();
        let said = || {
            let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
            lines.iter().any(|line| line.starts_with(&begin))
        };
        while !said() {
            if start.elapsed() > Duration::from_secs(60) {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
        true
    }
}
