//! The thread that keeps a worker process running and passes requests to it.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::{Duration, Instant},
};

use journeyman::{
    Error, ErrorKind, Result,
    contract::{ModelCapabilities, TokenSink},
};

use super::{
    LOAD,
    config::IsolatedConfig,
    process::{Death, Process},
    protocol::{Answer, FromWorker, NAME, ToWorker, VERSION, frame},
};

/// The first pause before a worker is started once more; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What happens to a keeper.
pub(super) enum Event {
    Ask(u64, Pending),
    /// Nobody waits any more.
    Cancel(u64),
    /// An adapter that the worker has, or none of this name.
    Adapter(String, Option<PathBuf>),
    /// By which worker, and what.
    Said(u64, FromWorker),
    /// Nothing more comes from this worker; with what it wrote instead, if anything.
    Ended(u64, Option<&'static str>),
    Close,
}

/// Where an answer goes.
pub(super) type Reply = Box<dyn FnOnce(Result<Answer>) + Send>;

/// A request that is not answered yet.
pub(super) struct Pending {
    pub(super) operation: &'static str,
    /// What is sent; gone once it was.
    pub(super) frame: Option<Vec<u8>>,
    /// Whether it may wait for a worker that is being started.
    pub(super) patient: bool,
    /// `None` once nobody waits.
    pub(super) reply: Option<Reply>,
    pub(super) sink: Option<Arc<dyn TokenSink>>,
    /// A worker that has not answered then hangs; `None` where that is no sign of it.
    pub(super) kill_at: Option<Instant>,
}

impl Pending {
    fn answer(&mut self, answer: Result<Answer>) {
        if let Some(reply) = self.reply.take() {
            reply(answer);
        }
    }
}

enum Phase {
    /// A worker loads the model, at most until then.
    Loading(Process, Option<Instant>),
    Serving(Process),
    /// Before the next try.
    Pausing(Instant),
    /// Requests are refused; one that comes after this time tries once more.
    Resting(Error, Option<Instant>),
}

pub(super) struct Keeper {
    pub(super) config: IsolatedConfig,
    pub(super) program: PathBuf,
    /// Where the worker runs: where the host was when it loaded the model.
    pub(super) folder: PathBuf,
    pub(super) events: Sender<Event>,
    /// The process id of the present worker; 0 for none.
    pub(super) process_id: Arc<AtomicU32>,
    pending: BTreeMap<u64, Pending>,
    phase: Phase,
    started: u64,
    /// Starts and deaths with no request answered since.
    failures: u32,
    /// What the first worker said.
    loaded: Option<ModelCapabilities>,
    /// Who waits for the first worker.
    first: Option<Sender<Result<ModelCapabilities>>>,
}

impl Keeper {
    pub(super) fn new(
        config: IsolatedConfig,
        program: PathBuf,
        folder: PathBuf,
        events: Sender<Event>,
        process_id: Arc<AtomicU32>,
        first: Sender<Result<ModelCapabilities>>,
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
        loop {
            if self.loaded.is_none() && self.first.is_none() {
                break;
            }
            self.tick(Instant::now());
            let wait = match self.next_tick() {
                Some(at) => at.saturating_duration_since(Instant::now()),
                None => Duration::from_secs(3600),
            };
            match inbox.recv_timeout(wait) {
                Ok(Event::Ask(id, pending)) => self.ask(id, pending),
                Ok(Event::Cancel(id)) => self.cancel(id),
                Ok(Event::Adapter(name, path)) => self.config.remember(name, path),
                Ok(Event::Said(number, message)) if self.is_present(number) => self.said(message),
                Ok(Event::Ended(number, garbage)) if self.is_present(number) => self.ended(garbage),
                Ok(Event::Said(..) | Event::Ended(..)) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Event::Close) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.end(Some("is not needed any more"));
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
            Phase::Loading(process, until) if !process.is_killed() => *until,
            Phase::Serving(process) if !process.is_killed() => {
                let pending = self.pending.values();
                pending.filter_map(|pending| pending.kill_at).min()
            }
            _ => None,
        }
    }

    /// Does what is due.
    fn tick(&mut self, now: Instant) {
        if self.next_tick().is_none_or(|due| due > now) {
            return;
        }
        let (load_limit, grace) = (self.config.load_limit, self.config.grace);
        match &mut self.phase {
            Phase::Pausing(_) => self.start(),
            Phase::Loading(process, _) => {
                process.kill(&format!("did not load the model within {load_limit:?}"));
            }
            Phase::Serving(process) => process.kill(&format!(
                "did not answer a request until {grace:?} after it was due"
            )),
            Phase::Resting(..) => {}
        }
    }

    fn start(&mut self) {
        self.started += 1;
        let until = Instant::now().checked_add(self.config.load_limit);
        let started = Process::start(
            &self.config,
            &self.program,
            &self.folder,
            self.started,
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
        if let Phase::Resting(error, until) = &self.phase {
            if until.is_some_and(|until| Instant::now() < until) {
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
            _ if !pending.patient => return,
            _ => {}
        }
        self.pending.insert(id, pending);
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
        let soon = Instant::now().checked_add(self.config.grace);
        pending.kill_at = pending.kill_at.map(|at| soon.unwrap_or(at).min(at));
        if let (Ok(Some(frame)), Some(process)) = (frame(&ToWorker::Cancel { id }), self.process())
        {
            process.say(frame);
        }
    }

    fn said(&mut self, message: FromWorker) {
        match message {
            FromWorker::Hello { name, protocol } if name == NAME && protocol == VERSION => {}
            FromWorker::Hello { protocol, .. } => {
                let message = format!(
                    "the worker speaks version {protocol} of the protocol, this host {VERSION}"
                );
                let error = Error::unsupported(LOAD, message)
                    .with("worker", self.program.display())
                    .hint("use the worker that was built with this host");
                self.give_up(error);
            }
            FromWorker::Loaded(capabilities) => self.loaded(capabilities),
            FromWorker::Refused(error) => {
                let temporary = error.retry() == journeyman::Retry::Temporary;
                self.end(Some("loaded nothing"));
                self.failed(error, temporary);
            }
            FromWorker::Token { id, text } => self.token(id, &text),
            FromWorker::Answer { id, answer } => {
                self.failures = 0;
                if let Some(mut pending) = self.pending.remove(&id) {
                    pending.answer(answer);
                }
            }
        }
    }

    fn loaded(&mut self, capabilities: ModelCapabilities) {
        match &self.loaded {
            Some(before) if before.model != capabilities.model => {
                let error = Error::new(
                    ErrorKind::Conflict,
                    LOAD,
                    "the file holds another model than when it was first loaded",
                )
                .with("was", &before.model)
                .with("is", &capabilities.model)
                .hint("put the file back, or load the model anew");
                self.give_up(error);
                return;
            }
            _ => self.loaded = Some(capabilities.clone()),
        }
        if let Some(first) = self.first.take() {
            let _ = first.send(Ok(capabilities));
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

    /// The present worker is gone, or writes garbage.
    fn ended(&mut self, garbage: Option<&'static str>) {
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
                pending.answer(Err(death.with_said(error)));
            }
        }
        let message = match self.failures {
            0 => format!("the worker process {how}"),
            times => format!("the worker process {how}, as {times} before it"),
        };
        let error = Error::new(ErrorKind::Unavailable, LOAD, message)
            .temporary()
            .with("worker", self.program.display())
            .hint("check that the file is sound, that memory suffices and that the worker is the one of this host");
        self.failed(death.with_said(error), true);
    }

    /// No worker can be had with this file or this executable, as they are.
    fn give_up(&mut self, error: Error) {
        self.end(Some("cannot be used"));
        self.failed(error, false);
    }

    /// Another try, later, or refusal.
    fn failed(&mut self, error: Error, again: bool) {
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
        let error = error.with("next_try_in", format!("{:?}", self.config.rest));
        for (_, mut pending) in std::mem::take(&mut self.pending) {
            pending.answer(Err(error.clone()));
        }
        self.phase = Phase::Resting(error, Instant::now().checked_add(self.config.rest));
    }

    /// Waits for the end of the present worker, if there is one; kills it first where there is a reason to.
    fn end(&mut self, kill: Option<&str>) -> Option<Death> {
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
