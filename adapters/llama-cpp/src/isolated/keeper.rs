//! The keeper: the thread that keeps a worker process running and passes requests to it.

mod deaths;

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError},
    },
    time::{Duration, Instant},
};

use journeyman::{Error, ErrorKind, Result};

use super::{
    config::IsolatedConfig,
    event::{Event, Pending},
    process::Process,
    protocol::{Answer, FromWorker, Load, Loaded, NAME, ToWorker, VERSION, frame},
};
use crate::{convert::too_many_wait, digest::FileHash};

enum Phase {
    /// A worker is loading the model, until this deadline.
    Loading(Process, Option<Instant>),
    Serving(Process),
    /// A worker failed; the next one starts at this time.
    Pausing(Instant),
    /// Workers failed too often: requests are refused with this error. A request after this time starts a new worker.
    Resting(Error, Option<Instant>),
}

pub(super) struct Keeper {
    pub(super) config: IsolatedConfig<Load>,
    pub(super) program: PathBuf,
    /// The worker's working directory: that of the host at the time when the host opened the model.
    pub(super) folder: PathBuf,
    pub(super) events: Sender<Event>,
    /// The process id of the running worker; 0 if there is none.
    pub(super) process_id: Arc<AtomicU32>,
    pending: BTreeMap<u64, Pending>,
    phase: Phase,
    started: u64,
    /// Number of failures since the last answered request.
    failures: u32,
    /// The latest worker's report of the loaded model, and the hash of the model's file at that time.
    loaded: Option<(Loaded, FileHash)>,
    /// Sends the result of the first load to the caller that opened the model; none after it was sent.
    first: Option<Sender<Result<Loaded>>>,
}

impl Keeper {
    pub(super) fn new(
        config: IsolatedConfig<Load>,
        program: PathBuf,
        folder: PathBuf,
        events: Sender<Event>,
        process_id: Arc<AtomicU32>,
        first: Sender<Result<Loaded>>,
    ) -> Self {
        Self {
            config,
            program,
            folder,
            events,
            process_id,
            pending: BTreeMap::new(),
            phase: Phase::Pausing(Instant::now()),
            started: 0,
            failures: 0,
            loaded: None,
            first: Some(first),
        }
    }

    /// Serves until the handle is dropped, or the first worker cannot load the model.
    pub(super) fn run(mut self, inbox: &Receiver<Event>) {
        while self.loaded.is_some() || self.first.is_some() {
            // Received messages come first: an answer that seems late may be among them.
            let event = match inbox.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.tick(Instant::now());
                    match inbox.recv_timeout(self.idle()) {
                        Err(RecvTimeoutError::Timeout) => continue,
                        event => event.ok(),
                    }
                }
                event => event.ok(),
            };
            match event {
                Some(Event::Ask(id, pending)) => self.ask(id, pending),
                Some(Event::Cancel(id)) => self.cancel(id),
                Some(Event::Said(number, message)) if self.is_present(number) => {
                    self.said(message);
                }
                Some(Event::Ended(number, garbage)) if self.is_present(number) => {
                    self.ended(garbage);
                }
                Some(Event::Said(..) | Event::Ended(..)) => {}
                Some(Event::Close) | None => break,
            }
        }
        self.end(Some("is not needed any more"));
    }

    pub(super) fn operation(&self) -> &'static str {
        self.config.model.operation()
    }

    /// The time until something is due.
    fn idle(&self) -> Duration {
        match self.next_tick() {
            Some(at) => at.saturating_duration_since(Instant::now()),
            None => Duration::from_secs(3600),
        }
    }

    fn process(&mut self) -> Option<&mut Process> {
        match &mut self.phase {
            Phase::Loading(process, _) | Phase::Serving(process) => Some(process),
            Phase::Pausing(_) | Phase::Resting(..) => None,
        }
    }

    fn is_present(&mut self, number: u64) -> bool {
        self.process()
            .is_some_and(|process| process.number == number)
    }

    fn next_tick(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Pausing(until) => Some(*until),
            Phase::Loading(process, until) => process.due(*until),
            Phase::Serving(process) => {
                let pending = self.pending.values();
                process.due(pending.filter_map(|pending| pending.kill_at).min())
            }
            Phase::Resting(..) => None,
        }
    }

    /// Does what is due.
    fn tick(&mut self, now: Instant) {
        let Some(due) = self.next_tick().filter(|due| *due <= now) else {
            return;
        };
        if let Some(process) = self.process()
            && !process.is_killed()
            && process.extend_wait(due, now)
        {
            return;
        }
        let (load_limit, grace) = (self.config.load_limit, self.config.grace);
        match &mut self.phase {
            Phase::Pausing(_) => self.start(),
            // Another process holds its pipes open, or the system does not end it.
            Phase::Loading(process, _) | Phase::Serving(process) if process.is_killed() => {
                self.ended(None);
            }
            Phase::Loading(process, _) => {
                process.kill(&format!(
                    "did not load the model within {} s",
                    load_limit.as_secs_f64()
                ));
            }
            Phase::Serving(process) => process.kill(&format!(
                "did not answer a request until {} s after it was due",
                grace.as_secs_f64()
            )),
            Phase::Resting(..) => {}
        }
    }

    fn start(&mut self) {
        self.started += 1;
        let until = Instant::now().checked_add(self.config.load_limit);
        let config = match self.loaded {
            Some(_) => self.config.without_lost_adapters(&self.folder),
            None => self.config.clone(),
        };
        let started = Process::start(
            &config,
            &self.program,
            &self.folder,
            self.started,
            self.loaded.as_ref().map(|(_, file)| file),
            &self.events,
        );
        match started {
            Ok(process) => {
                self.process_id.store(process.id(), Ordering::Relaxed);
                self.phase = Phase::Loading(process, until);
            }
            Err(error) => self.failed(error, true),
        }
    }

    fn ask(&mut self, id: u64, mut pending: Pending) {
        if self.unload_without_worker(&pending) {
            pending.answer(Ok(Answer::Done));
            return;
        }
        if let Phase::Resting(error, until) = &self.phase {
            if until.is_none_or(|until| Instant::now() < until) {
                pending.answer(Err(error.clone()));
                return;
            }
            self.start();
        }
        match &self.phase {
            Phase::Serving(process) if !process.is_killed() => {
                if let Some(frame) = pending.frame.take() {
                    process.say(frame);
                }
            }
            Phase::Resting(error, _) => {
                pending.answer(Err(error.clone()));
                return;
            }
            _ if !pending.may_wait => return,
            _ => {
                let most = self.config.model.max_waiting();
                if self.pending.len() >= most {
                    let operation = pending.operation;
                    pending.answer(Err(too_many_wait(operation, most)));
                    return;
                }
            }
        }
        self.pending.insert(id, pending);
    }

    /// Without a worker, unloading only removes the adapter from the list: it may be the reason that no worker starts.
    fn unload_without_worker(&mut self, pending: &Pending) -> bool {
        let forgotten = match &pending.change {
            Some((name, None)) if self.process().is_none() => {
                let adapters = self.config.model.adapters();
                adapters.is_some_and(|adapters| adapters.remove(name).is_some())
            }
            _ => false,
        };
        if let Phase::Resting(_, until) = &mut self.phase
            && forgotten
        {
            *until = Some(Instant::now());
        }
        forgotten
    }

    fn cancel(&mut self, id: u64) {
        let Some(pending) = self.pending.get_mut(&id) else {
            return;
        };
        pending.reply = None;
        pending.sink = None;
        if pending.frame.is_some() {
            self.pending.remove(&id);
            return;
        }
        // A change of adapters is completed: otherwise the worker's adapters would be unknown.
        if pending.change.is_some() {
            return;
        }
        if pending.may_wait {
            let soon = Instant::now().checked_add(self.config.grace);
            pending.kill_at = pending.kill_at.into_iter().chain(soon).min();
        }
        if let (Ok(Some(frame)), Some(process)) = (frame(&ToWorker::Cancel { id }), self.process())
        {
            process.say(frame);
        }
    }

    fn said(&mut self, message: FromWorker) {
        match message {
            FromWorker::Hello { .. } | FromWorker::Loaded { .. } | FromWorker::Refused(_)
                if !matches!(self.phase, Phase::Loading(..)) =>
            {
                self.ended(Some("a message out of turn"));
            }
            FromWorker::Hello { name, protocol } if name == NAME && protocol == VERSION => {}
            FromWorker::Hello { protocol, .. } => {
                let message =
                    format!("the worker uses protocol version {protocol}, this host {VERSION}");
                let error = Error::unsupported(self.operation(), message)
                    .with("worker", self.program.display())
                    .hint("use the worker that was built with this host");
                self.give_up(error);
            }
            FromWorker::Loaded { loaded, file } => self.loaded(loaded, file),
            FromWorker::Refused(error) => {
                // If the model was loaded before, a lack such as memory may be temporary.
                let lacks = self.loaded.is_some() && error.kind() == ErrorKind::Unavailable;
                let error = if lacks { error.temporary() } else { error };
                let again = error.retry() == journeyman::Retry::Temporary;
                self.end(Some("loaded nothing"));
                self.failed(error, again);
            }
            FromWorker::Token { id, text } => self.token(id, &text),
            FromWorker::Answer { id, answer } => {
                if let Some(pending) = self.pending.remove(&id) {
                    self.answered(pending, answer);
                }
            }
        }
    }

    fn answered(&mut self, mut pending: Pending, answer: Result<Answer>) {
        self.failures = 0;
        if let Some((name, path)) = pending.change.take() {
            // An adapter that was left out at a start cannot be unloaded, which is fine.
            let absent = |error: &Error| path.is_none() && error.kind() == ErrorKind::NotFound;
            if answer.as_ref().err().is_none_or(absent) {
                self.config.remember(name, path);
            }
        }
        pending.answer(answer);
    }

    fn loaded(&mut self, loaded: Loaded, file: FileHash) {
        match &self.loaded {
            Some((before, _)) if before.name() != loaded.name() => {
                let error = Error::new(
                    ErrorKind::Conflict,
                    self.operation(),
                    "the file holds another model than when it was first loaded",
                )
                .with("was", before.name())
                .with("is", loaded.name())
                .hint("restore the file, or load the model again");
                self.give_up(error);
                return;
            }
            _ => self.loaded = Some((loaded.clone(), file)),
        }
        if let Some(first) = self.first.take() {
            let _ = first.send(Ok(loaded));
        }
        let resting = Phase::Pausing(Instant::now());
        if let Phase::Loading(process, _) = std::mem::replace(&mut self.phase, resting) {
            for pending in self.pending.values_mut() {
                if let Some(frame) = pending.frame.take() {
                    process.say(frame);
                }
            }
            self.phase = Phase::Serving(process);
        }
    }

    /// A host's sink that panics is not called again.
    fn token(&mut self, id: u64, text: &str) {
        if let Some(pending) = self.pending.get_mut(&id)
            && let Some(sink) = &pending.sink
            && catch_unwind(AssertUnwindSafe(|| sink.token(text))).is_err()
        {
            pending.sink = None;
        }
    }
}
