//! The keeper's reaction to the end of a worker.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use journeyman::{Error, ErrorKind};

use super::{Keeper, Phase};
use crate::isolated::{event::Pending, process::Death};

/// The first pause before a restart; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

impl Keeper {
    /// Handles the end of the present worker, or its invalid output.
    pub(super) fn ended(&mut self, garbage: Option<&'static str>) {
        let why = garbage.map(|what| format!("wrote what is not of the protocol ({what})"));
        let serving = matches!(self.phase, Phase::Serving(_));
        let Some(death) = self.end(why.as_deref()) else {
            return;
        };
        let how = &death.how;
        tracing::warn!(
            worker = self.started,
            how,
            "a model's worker process is gone"
        );
        if serving {
            let next = match self.failures < self.config.restarts {
                true => ", and another one is started",
                false => "",
            };
            let message = format!("the worker process {how}{next}");
            let sent = |_: &u64, pending: &mut Pending| pending.frame.is_none();
            for (_, mut pending) in self.pending.extract_if(.., sent).collect::<Vec<_>>() {
                let error = Error::new(ErrorKind::Unavailable, pending.operation, &message)
                    .temporary()
                    .hint("try again; where the same request ends it each time, report it with the model's name");
                pending.answer(Err(death.with_last_line(error)));
            }
        }
        let message = match self.failures {
            0 => format!("the worker process {how}"),
            times => format!("the worker process {how}, as {times} before it"),
        };
        let error = Error::new(ErrorKind::Unavailable, self.operation(), message)
            .temporary()
            .with("worker", self.program.display())
            .hint("check that the file is sound, that memory suffices and that the worker is the one of this host");
        self.failed(death.with_last_line(error), true);
    }

    /// Gives up: no worker can run with this file or this executable as they are.
    pub(super) fn give_up(&mut self, error: Error) {
        self.end(Some("cannot be used"));
        self.failed(error, false);
    }

    /// Plans another try, or refuses all requests.
    pub(super) fn failed(&mut self, error: Error, again: bool) {
        self.failures += 1;
        if let Some(first) = self.first.take() {
            let _ = first.send(Err(error));
            return;
        }
        if again && self.failures <= self.config.restarts {
            let pause = match self.failures {
                1 => Duration::ZERO,
                n => FIRST_PAUSE.saturating_mul(1 << (n - 2).min(16)),
            };
            self.phase = Phase::Pausing(Instant::now() + pause.min(LONGEST_PAUSE));
            return;
        }
        let rest = self.config.rest.as_secs_f64();
        let error = error.with("next_try_in", format!("{rest} s"));
        for (_, mut pending) in std::mem::take(&mut self.pending) {
            pending.answer(Err(error.clone()));
        }
        self.phase = Phase::Resting(error, Instant::now().checked_add(self.config.rest));
    }

    /// Ends the present worker, if there is one: kills it where a reason is given, and waits for its exit.
    pub(super) fn end(&mut self, kill: Option<&str>) -> Option<Death> {
        let pausing = Phase::Pausing(Instant::now());
        match std::mem::replace(&mut self.phase, pausing) {
            Phase::Loading(mut process, _) | Phase::Serving(mut process) => {
                self.process_id.store(0, Ordering::Relaxed);
                if let Some(why) = kill {
                    process.kill(why);
                }
                Some(process.reap())
            }
            Phase::Pausing(_) | Phase::Resting(..) => None,
        }
    }
}
