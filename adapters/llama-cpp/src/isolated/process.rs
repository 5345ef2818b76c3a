//! One worker process, seen from the host.

use std::{
    io::{self, Read},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use journeyman::{Error, ErrorKind, Result};

use super::{
    config::IsolatedConfig,
    event::Event,
    protocol::{self, FromWorker, Heard, Load, ToWorker, request_frame},
};
use crate::{convert::worker_failed, digest::Hashed};

/// How much of what it wrote to standard error is kept: the end, where the reason is.
const TAIL: usize = 4096;
/// The most characters of it in an error.
const MOST_SAID: usize = 300;
/// How long its last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long after it was killed the end of its answers is waited for.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// How long it is then waited for itself.
const LAST_BREATH: Duration = Duration::from_secs(1);
/// How long an answer that is late may still be on its way from the pipe: the host may have been stopped meanwhile.
const DOUBT: Duration = Duration::from_millis(100);

/// A running worker. Whoever has it reaps it.
pub(super) struct Process {
    child: Child,
    frames: Sender<Vec<u8>>,
    last_words: Receiver<Vec<u8>>,
    /// Which of the workers one after the other.
    pub(super) number: u64,
    /// Why it was killed, if by us, and when.
    killed: Option<(String, Instant)>,
    /// When an answer was due that has not come, and until when it is waited for nevertheless.
    doubted: Option<(Instant, Instant)>,
}

impl Process {
    /// Starts a worker and tells it what to load.
    pub(super) fn start(
        config: &IsolatedConfig<Load>,
        program: &Path,
        folder: &Path,
        number: u64,
        known: Option<&Hashed>,
        events: &Sender<Event>,
    ) -> Result<Self> {
        let operation = config.model.operation();
        let load = ToWorker::Load {
            load: config.model.clone(),
            known: known.cloned(),
        };
        let load = request_frame(operation, &load)?;
        let mut command = Command::new(program);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .args(&config.worker_arguments)
            .current_dir(folder)
            .env_clear()
            // llama.cpp would else start a debugger, where there is one, to print where it aborts.
            .env("GGML_NO_BACKTRACE", "1")
            .envs(config.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| not_started(operation, program, error))?;
        let (frames, outbox) = mpsc::channel();
        let (tail, last_words) = mpsc::channel();
        let attached = attach(&mut child, outbox, tail, number, events.clone()).map_err(|error| {
            worker_failed(operation, "the system starts no thread").source_from(error)
        });
        let mut process = Self {
            child,
            frames,
            last_words,
            number,
            killed: None,
            doubted: None,
        };
        match attached {
            Ok(()) => {
                process.say(load);
                Ok(process)
            }
            Err(error) => {
                process.kill("has no threads");
                process.reap();
                Err(error)
            }
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a frame, without waiting.
    pub(super) fn say(&self, frame: Vec<u8>) {
        let _ = self.frames.send(frame);
    }

    /// Kills it, for this reason; the end of its answers follows.
    pub(super) fn kill(&mut self, why: &str) {
        if self.killed.is_none() {
            let why = format!("was ended by its host, since it {why}");
            self.killed = Some((why, Instant::now()));
            self.strike();
        }
    }

    pub(super) fn is_killed(&self) -> bool {
        self.killed.is_some()
    }

    /// When something must be done about it that should have answered by then.
    pub(super) fn due(&self, answer: Option<Instant>) -> Option<Instant> {
        match (&self.killed, self.doubted) {
            (Some((_, at)), _) => Some(*at + LAST_ANSWERS),
            (None, Some((due, until))) if answer == Some(due) => Some(until),
            _ => answer,
        }
    }

    /// Whether it is given another moment.
    pub(super) fn doubt(&mut self, due: Instant, now: Instant) -> bool {
        if self.doubted.is_some_and(|(_, until)| until == due) {
            return false;
        }
        self.doubted = Some((due, now + DOUBT));
        true
    }

    /// Kills it and what it has started, such as a script the worker itself.
    fn strike(&mut self) {
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ = self.child.kill();
    }

    /// Its end, if it comes by then.
    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || start.elapsed() >= limit {
                return status;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for its end, and says how it was.
    pub(super) fn reap(mut self) -> Death {
        // One whose answers ended may still run; a dying one needs a moment.
        let status = self.wait(Duration::from_millis(20)).or_else(|| {
            self.strike();
            self.wait(LAST_BREATH)
        });
        let tail = self.last_words.recv_timeout(LAST_WORDS);
        let how = match (self.killed, status) {
            (Some((why, _)), _) => why,
            (None, Some(status)) => how(status),
            (None, None) => "ended".to_owned(),
        };
        if status.is_none() {
            // The system does not let it go, and nobody waits for that but this thread.
            let mut child = self.child;
            let _ = run("llama-worker-end", move || {
                let _ = child.wait();
            });
        }
        Death {
            how,
            said: last_line(&tail.unwrap_or_default()),
        }
    }
}

/// How a worker ended.
#[derive(Clone, Debug)]
pub(super) struct Death {
    /// Such as `was ended by signal 6 (SIGABRT)`.
    pub(super) how: String,
    /// The last line it wrote to standard error.
    said: Option<String>,
}

impl Death {
    /// Adds what it last said.
    pub(super) fn with_said(&self, error: Error) -> Error {
        match &self.said {
            Some(said) => error.with("said", said),
            None => error,
        }
    }
}

fn not_started(operation: &'static str, program: &Path, error: io::Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        operation,
        format!("the worker cannot be started ({})", error.kind()),
    )
    .with("worker", program.display())
    .hint("check that the file may be executed and was built for this machine")
    .source_from(error)
}

/// A thread for each pipe.
fn attach(
    child: &mut Child,
    outbox: Receiver<Vec<u8>>,
    tail: Sender<Vec<u8>>,
    number: u64,
    events: Sender<Event>,
) -> io::Result<()> {
    if let Some(input) = child.stdin.take() {
        run("llama-worker-in", move || {
            // A worker that is gone is noticed where its answers end.
            let _ = protocol::write_all(&outbox, input);
        })?;
    }
    if let Some(mut output) = child.stdout.take() {
        run("llama-worker-out", move || {
            read_all(&mut output, number, &events);
        })?;
    }
    if let Some(errors) = child.stderr.take() {
        run("llama-worker-err", move || {
            let _ = tail.send(read_tail(errors));
        })?;
    }
    Ok(())
}

fn run(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(drop)
}

fn read_all(output: &mut impl Read, number: u64, events: &Sender<Event>) {
    loop {
        let (event, last) = match protocol::read::<FromWorker>(output) {
            Heard::Message(message) => (Event::Said(number, message), false),
            Heard::End => (Event::Ended(number, None), true),
            Heard::Unreadable(_) => {
                let what = "a frame that is no message";
                (Event::Ended(number, Some(what)), true)
            }
            Heard::Garbage(what) => (Event::Ended(number, Some(what)), true),
        };
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// The end of all that comes.
fn read_tail(mut pipe: impl Read) -> Vec<u8> {
    let mut tail = Vec::new();
    let mut part = [0; 1024];
    loop {
        match pipe.read(&mut part) {
            Ok(length) if length > 0 => {
                tail.extend_from_slice(&part[..length]);
                tail.drain(..tail.len().saturating_sub(TAIL));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return tail,
        }
    }
}

fn last_line(tail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(tail);
    // Behind a panic Rust tells how to learn more of it.
    let says = |line: &&str| !line.is_empty() && !line.starts_with("note: ");
    let line = text.lines().map(str::trim).rfind(says)?;
    Some(line.chars().take(MOST_SAID).collect())
}

#[cfg(unix)]
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name = match signal {
                4 => " (SIGILL)",
                6 => " (SIGABRT)",
                7 => " (SIGBUS)",
                8 => " (SIGFPE)",
                9 => " (SIGKILL: by somebody, or for want of memory)",
                11 => " (SIGSEGV)",
                15 => " (SIGTERM)",
                _ => "",
            };
            format!("was ended by signal {signal}{name}")
        }
        (None, Some(code)) => format!("ended with exit code {code}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(not(unix))]
fn how(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "ended".to_owned(),
    }
}
