//! A worker process on the host's side: starting it, its pipes, and its end.

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
    protocol::{self, FromWorker, Load, Received, ToWorker, request_frame},
};
use crate::{convert::worker_failed, digest::FileHash};

/// Bytes of its standard error that are kept, from the end, where the reason is.
const TAIL: usize = 4096;
/// Maximum characters of its standard error in an error.
const MAX_STDERR_CHARS: usize = 300;
/// Time to wait for the end of its standard error.
const STDERR_WAIT: Duration = Duration::from_millis(500);

/// Time to wait, after a kill, for the end of its answers.
const ANSWERS_WAIT: Duration = Duration::from_secs(1);
/// Time to wait for its exit after that.
const EXIT_WAIT: Duration = Duration::from_secs(1);
/// Extra time for a late answer that may still be in the pipe: the host may have been stopped meanwhile.
const EXTRA_WAIT: Duration = Duration::from_millis(100);

/// A running worker. The owner must reap it.
pub(super) struct Process {
    child: Child,
    frames: Sender<Vec<u8>>,
    stderr_tail: Receiver<Vec<u8>>,
    /// Its number among the workers of its keeper.
    pub(super) number: u64,
    /// The reason and time of its kill by the host, if any.
    killed: Option<(String, Instant)>,
    /// The time at which a missing answer was due, and the end of the extra wait for it.
    extended: Option<(Instant, Instant)>,
}

impl Process {
    /// Starts a worker and tells it what to load.
    pub(super) fn start(
        config: &IsolatedConfig<Load>,
        program: &Path,
        folder: &Path,
        number: u64,
        known: Option<&FileHash>,
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
            // Otherwise llama.cpp would start a debugger, if present, to print a backtrace when it aborts.
            .env("GGML_NO_BACKTRACE", "1")
            .envs(config.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| not_started(operation, program, error))?;
        let (frames, outbox) = mpsc::channel();
        let (tail, stderr_tail) = mpsc::channel();
        let attached = attach(&mut child, outbox, tail, number, events.clone()).map_err(|error| {
            worker_failed(operation, "the system starts no thread").source_from(error)
        });
        let mut process = Self {
            child,
            frames,
            stderr_tail,
            number,
            killed: None,
            extended: None,
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

    /// Kills it for this reason; its answers then end.
    pub(super) fn kill(&mut self, why: &str) {
        if self.killed.is_none() {
            let why = format!("was ended by its host, since it {why}");
            self.killed = Some((why, Instant::now()));
            self.kill_group();
        }
    }

    pub(super) fn is_killed(&self) -> bool {
        self.killed.is_some()
    }

    /// The next time at which the keeper has to act, given the time at which an answer is due.
    pub(super) fn due(&self, answer: Option<Instant>) -> Option<Instant> {
        match (&self.killed, self.extended) {
            (Some((_, at)), _) => Some(*at + ANSWERS_WAIT),
            (None, Some((due, until))) if answer == Some(due) => Some(until),
            _ => answer,
        }
    }

    /// Whether it gets extra time for a late answer.
    pub(super) fn extend_wait(&mut self, due: Instant, now: Instant) -> bool {
        if self.extended.is_some_and(|(_, until)| until == due) {
            return false;
        }
        self.extended = Some((due, now + EXTRA_WAIT));
        true
    }

    /// Kills its process group, with all that it started; a script may have started the worker itself.
    fn kill_group(&mut self) {
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ = self.child.kill();
    }

    /// Its exit status, if it exits within `limit`.
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

    /// Waits for its exit, and describes it.
    pub(super) fn reap(mut self) -> Death {
        // A process may still run when its answers have ended; a dying one needs a moment.
        let status = self.wait(Duration::from_millis(20)).or_else(|| {
            self.kill_group();
            self.wait(EXIT_WAIT)
        });
        let tail = self.stderr_tail.recv_timeout(STDERR_WAIT);
        let how = match (self.killed, status) {
            (Some((why, _)), _) => why,
            (None, Some(status)) => how(status),
            (None, None) => "ended".to_owned(),
        };
        if status.is_none() {
            // The system does not end it; only this thread waits for that.
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

/// The end of a worker.
#[derive(Clone, Debug)]
pub(super) struct Death {
    /// A description such as `was ended by signal 6 (SIGABRT)`.
    pub(super) how: String,
    /// The last line it wrote to standard error.
    said: Option<String>,
}

impl Death {
    /// Adds its last line of standard error to an error.
    pub(super) fn with_last_line(&self, error: Error) -> Error {
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

/// Starts a thread for each pipe.
fn attach(
    child: &mut Child,
    outbox: Receiver<Vec<u8>>,
    tail: Sender<Vec<u8>>,
    number: u64,
    events: Sender<Event>,
) -> io::Result<()> {
    if let Some(input) = child.stdin.take() {
        run("llama-worker-in", move || {
            // A worker that has ended is noticed at the end of its answers.
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
            Received::Message(message) => (Event::Said(number, message), false),
            Received::End => (Event::Ended(number, None), true),
            Received::Unreadable(_) => {
                let what = "a frame that is no message";
                (Event::Ended(number, Some(what)), true)
            }
            Received::Garbage(what) => (Event::Ended(number, Some(what)), true),
        };
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// The last `TAIL` bytes of a pipe.
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
    // After a panic Rust prints a note, which is skipped.
    let says = |line: &&str| !line.is_empty() && !line.starts_with("note: ");
    let line = text.lines().map(str::trim).rfind(says)?;
    Some(line.chars().take(MAX_STDERR_CHARS).collect())
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
