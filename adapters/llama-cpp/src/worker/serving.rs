//! The worker's loop while its context is ready.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError, mpsc::RecvTimeoutError},
    time::{Duration, Instant},
};

use journeyman::Result;

use super::inbox::{End, Inbox, Message, Prefixes};
use crate::{
    context::{Context, Row},
    convert::no_adapter,
    cores::{Computing, Threads},
    lora::Adapters,
    queue::send_answer,
    saved,
    scheduler::Scheduler,
    setup::Setup,
    stats::EngineStats,
};

/// Maximum time to gather requests that arrive together.
const LONGEST_GATHERING: Duration = Duration::from_micros(500);

/// The loop over one context.
pub(super) struct Serving<'s, 'r, 'm> {
    pub(super) setup: &'s Setup,
    pub(super) context: &'s mut Context<'m>,
    pub(super) scheduler: &'s mut Scheduler<'r>,
    pub(super) adapters: &'s mut Adapters,
    pub(super) inbox: &'s mut Inbox,
    pub(super) computing_with: Option<String>,
    /// The duration of the last batch.
    pub(super) batch_time: Duration,
    pub(super) stats: &'s Mutex<EngineStats>,
    pub(super) threads: &'s mut Threads,
}

impl Serving<'_, '_, '_> {
    pub(super) fn all(&mut self) -> End {
        loop {
            // A text uses one adapter from its beginning to its end, so adapters change only while no request is
            // active.
            if self.scheduler.has_no_active()
                && let Some((change, reply)) = self.inbox.changes.pop_front()
            {
                return End::Adapter(change, reply);
            }
            if let Some(end) = self.listen() {
                return end;
            }
            if self.threads.count(self.scheduler.has_no_active()).is_some() {
                return End::Cores;
            }
            self.scheduler.closing = !self.inbox.changes.is_empty();
            let step = catch_unwind(AssertUnwindSafe(|| self.step()));
            if step.is_err() {
                // Unexpected: panics of a request's own code are caught with the request.
                self.scheduler.abandon(self.context);
            }
            // Counters are updated before the answers are sent, so that a caller with an answer sees it counted.
            self.show();
            self.scheduler.deliver();
        }
    }

    /// Receives messages. Waits while there is nothing to do, and then a moment longer for requests that arrive
    /// together: waiting a fiftieth of a batch's time can save a batch.
    fn listen(&mut self) -> Option<End> {
        let mut until = Instant::now();
        loop {
            let message = if self.scheduler.is_idle() {
                self.show();
                let message = self.inbox.next(None);
                if !self.setup.limits.deterministic {
                    until = Instant::now() + (self.batch_time / 50).min(LONGEST_GATHERING);
                }
                message
            } else {
                self.inbox.next(Some(until))
            };
            let message = match message {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(End::Gone),
            };
            match message {
                Message::Work(request) => self.scheduler.submit(*request),
                Message::Adapter(change, reply) => {
                    self.inbox.changes.push_back((change, reply));
                    if self.scheduler.has_no_active() {
                        return None;
                    }
                }
                Message::Prefixes(what, reply) => {
                    let done = self.prefixes(what);
                    // Before the answer is sent, as with requests.
                    self.show();
                    send_answer(reply, done);
                }
            }
        }
    }

    fn prefixes(&mut self, what: Prefixes) -> Result<usize> {
        let cache = &mut self.scheduler.cache;
        match what {
            Prefixes::Save(folder) => saved::save(
                &folder,
                &self.setup.id,
                self.setup.limits,
                self.adapters,
                self.context,
                cache,
            ),
            Prefixes::Restore(folder) => saved::restore(
                &folder,
                &self.setup.id,
                self.setup.limits,
                self.adapters,
                self.context,
                cache,
            ),
            Prefixes::Forget => {
                let tokens = cache.tokens();
                while cache.evict(self.context) {}
                Ok(tokens)
            }
        }
    }

    fn step(&mut self) {
        let known = self.adapters.names();
        let planned = self.scheduler.plan(self.context, &known);
        if planned.is_empty() {
            return;
        }
        let rows: Vec<Row> = planned.iter().map(|planned| planned.row).collect();
        let _computing = Computing::begin();
        let start = Instant::now();
        let done = self.switch().and_then(|()| self.context.decode(&rows));
        self.batch_time = start.elapsed();
        match done {
            Ok(()) => self.scheduler.take(self.context, &planned),
            Err(error) => self.scheduler.batch_failed(self.context, &planned, &error),
        }
    }

    /// Switches the context to the adapter of the batch.
    fn switch(&mut self) -> Result<()> {
        let wanted = self.scheduler.adapter.clone();
        if wanted == self.computing_with {
            return Ok(());
        }
        let done = match (&wanted, &self.computing_with) {
            (Some(name), _) => match self.adapters.get(name) {
                Some(adapter) => self.context.compute_with(adapter),
                None => Err(no_adapter("LlamaCpp", name, &[])),
            },
            (None, Some(name)) => match self.adapters.get(name) {
                Some(adapter) => self.context.compute_without(adapter),
                None => Ok(()),
            },
            (None, None) => Ok(()),
        };
        if done.is_ok() {
            self.computing_with = wanted;
        }
        done
    }

    fn show(&self) {
        let used = self.context.limits.cells - self.context.free_cells();
        let stats = EngineStats {
            threads: self.threads.now(),
            ..self.scheduler.stats(used)
        };
        show(self.stats, stats);
    }
}

pub(super) fn show(shown: &Mutex<EngineStats>, stats: EngineStats) {
    *shown.lock().unwrap_or_else(PoisonError::into_inner) = stats;
}
