//! A child process: its start, its pipes and its end.

use std::{
    io::{self, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use futures::channel::oneshot;
use journeyman::text::Redactor;

use crate::{
    config::ProcessConfig,
    fault::{Ending, ProcessFault},
    lines::{Line, next_line},
    table::{Death, Table},
    tail::StderrTail,
};

/// Characters of a line that is no message.
const QUOTED: usize = 200;
/// Time for a process that closed its standard output to exit by itself, so that its exit code is known.
const EXIT_WAIT: Duration = Duration::from_millis(500);
/// Time to wait for the end of a killed process, and for the rest of its standard error.
const KILLED_WAIT: Duration = Duration::from_secs(1);

/// What the keeper of a process is told.
#[derive(Debug)]
pub(crate) enum Order {
    /// The host ends it for this reason, or its standard output has no further message.
    End(ProcessFault),
    /// Its standard output ended.
    OutputEnded {
        /// Whether its last line has no line break.
        within_line: bool,
    },
    /// The host is through with it: it may end by itself within this time.
    Close(Duration, oneshot::Sender<()>),
}

/// The running process, while there is one. Only the thread that holds the lock reaps it, so its id is never another's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running(Arc<Mutex<Option<Child>>>);

impl Running {
    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the process and its group: all that it started and that did not leave the group.
    pub(crate) fn kill(&self) {
        if let Some(child) = self.lock().as_mut() {
            kill_group(child);
        }
    }

    /// The process's id.
    pub(crate) fn id(&self) -> Option<u32> {
        self.lock().as_ref().map(Child::id)
    }

    /// Waits for its exit without reaping it: what it left behind has its group's id as long as it is not reaped.
    fn has_exited(&self, limit: Duration) -> bool {
        let start = Instant::now();
        loop {
            let exited = self.lock().as_mut().is_none_or(has_exited);
            if exited || start.elapsed() >= limit {
                return exited;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills the group and reaps the process.
    fn reap(&self) -> Option<ExitStatus> {
        let start = Instant::now();
        self.kill();
        loop {
            let mut child = self.lock();
            let status = child
                .as_mut()
                .and_then(|child| child.try_wait().ok().flatten());
            if status.is_some() || child.is_none() {
                *child = None;
                return status;
            }
            drop(child);
            if start.elapsed() >= KILLED_WAIT {
                return None;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

#[cfg(unix)]
fn has_exited(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        waitid(WaitId::Pid(Pid::from_child(child)), options),
        Ok(None)
    )
}

#[cfg(not(unix))]
fn has_exited(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

fn kill_group(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::KILL,
    );
    let _ = child.kill();
}

/// The host's end of a child process.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) running: Running,
    pub(crate) orders: Sender<Order>,
    pub(crate) outbox: Sender<Vec<u8>>,
    tail: StderrTail,
}

impl Handle {
    /// The end of its standard error so far, redacted.
    pub(crate) fn said(&self, redactor: &Redactor) -> String {
        self.tail.text(redactor)
    }
}

/// Starts a process. The thread that starts it lives as long as the process: the system binds the child's life to it.
pub(crate) fn start(config: &ProcessConfig, table: &Arc<Table>) -> Result<Handle, ProcessFault> {
    let program = config.executable()?;
    let (orders, inbox) = mpsc::channel();
    let (outbox, frames) = mpsc::channel();
    let (started, answer) = mpsc::channel();
    let (running, tail) = (Running::default(), StderrTail::default());
    let keeper = Keeper {
        config: config.clone(),
        table: table.clone(),
        running: running.clone(),
        orders: orders.clone(),
        tail: tail.clone(),
    };
    run("process-keeper", move || {
        let launched = keeper.launch(&program, frames);
        let is_started = launched.is_ok();
        let _ = started.send(launched.map_err(|error| ProcessFault::NotStarted {
            missing: error.kind() == io::ErrorKind::NotFound,
            reason: error.to_string(),
        }));
        if is_started {
            keeper.keep(&inbox);
        }
    })
    .map_err(|error| no_thread(&error))?;
    answer.recv().unwrap_or(Err(ProcessFault::Closed))?;
    Ok(Handle {
        running,
        orders,
        outbox,
        tail,
    })
}

fn no_thread(error: &io::Error) -> ProcessFault {
    ProcessFault::NotStarted {
        reason: format!("the system starts no thread ({error})"),
        missing: false,
    }
}

fn run(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// The thread that starts a process and sees to its end.
struct Keeper {
    config: ProcessConfig,
    table: Arc<Table>,
    running: Running,
    orders: Sender<Order>,
    tail: StderrTail,
}

impl Keeper {
    fn launch(&self, program: &Path, frames: Receiver<Vec<u8>>) -> io::Result<()> {
        let mut command = self.config.prepared(program);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        *self.running.lock() = Some(child);
        let attached = self.attach(pipes, frames);
        if attached.is_err() {
            self.running.reap();
        }
        attached
    }

    /// Starts a thread for each pipe.
    fn attach(
        &self,
        (input, output, errors): (
            Option<ChildStdin>,
            Option<impl Read + Send + 'static>,
            Option<impl Read + Send + 'static>,
        ),
        frames: Receiver<Vec<u8>>,
    ) -> io::Result<()> {
        if let Some(input) = input {
            run("process-in", move || write_all(&frames, input))?;
        }
        if let Some(output) = output {
            let (table, orders) = (self.table.clone(), self.orders.clone());
            let (cap, redactor) = (self.config.line_cap.get(), self.config.redactor.clone());
            run("process-out", move || {
                let order = read_all(output, cap, &redactor, &table);
                let _ = orders.send(order);
            })?;
        }
        if let Some(errors) = errors {
            let tail = self.tail.clone();
            run("process-err", move || tail.read(errors))?;
        }
        Ok(())
    }

    /// Waits until the process is to end, ends it, and tells the open requests why.
    fn keep(self, inbox: &Receiver<Order>) {
        let (fault, reply) = match inbox.recv() {
            Ok(Order::End(fault)) => {
                self.running.reap();
                (fault, None)
            }
            Ok(Order::OutputEnded { within_line }) => {
                let exited = self.running.has_exited(EXIT_WAIT);
                let status = self.running.reap().filter(|_| exited);
                let how = ending(status, within_line);
                (ProcessFault::Ended { how }, None)
            }
            Ok(Order::Close(limit, reply)) => {
                // Its standard input is closed. A process may close its standard output and still have work to do.
                self.running.has_exited(limit);
                self.running.reap();
                (ProcessFault::Closed, Some(reply))
            }
            Err(_) => {
                self.running.reap();
                (ProcessFault::Closed, None)
            }
        };
        self.tail.finish(KILLED_WAIT);
        let said = self.tail.text(&self.config.redactor);
        if fault != ProcessFault::Closed {
            tracing::warn!(program = %self.config.program.display(), %fault, "a child process is gone");
        }
        self.table.die(Death { fault, said });
        if let Some(reply) = reply {
            let _ = reply.send(());
        }
    }
}

fn write_all(frames: &Receiver<Vec<u8>>, mut input: ChildStdin) {
    // An empty frame closes the pipe. A process that has ended is noticed at the end of its answers.
    while let Ok(frame) = frames.recv() {
        let written = input.write_all(&frame).and_then(|()| input.flush());
        if frame.is_empty() || written.is_err() {
            return;
        }
    }
}

/// Reads messages until the stream ends or has something else.
fn read_all(output: impl Read, cap: usize, redactor: &Redactor, table: &Table) -> Order {
    let mut output = BufReader::with_capacity(64 * 1024, output);
    loop {
        let line = match next_line(&mut output, cap) {
            Line::Whole(line) => line,
            Line::Partial => return Order::OutputEnded { within_line: true },
            Line::TooLong => return Order::End(ProcessFault::LineTooLong { cap }),
            Line::End => return Order::OutputEnded { within_line: false },
        };
        let delivered = match serde_json::from_slice(&line) {
            Ok(message) => table.deliver(message),
            Err(error) => Err(noise(&line, &error, redactor)),
        };
        if let Err(fault) = delivered {
            return Order::End(fault);
        }
    }
}

fn noise(line: &[u8], error: &serde_json::Error, redactor: &Redactor) -> ProcessFault {
    // Redacted before it is cut: a part of a secret has no known form.
    let start = &line[..line.len().min(QUOTED * 64)];
    let text = String::from_utf8_lossy(start);
    ProcessFault::Noise {
        line: redactor.redact(&text).chars().take(QUOTED).collect(),
        reason: redactor
            .redact(&error.to_string())
            .chars()
            .take(QUOTED)
            .collect(),
    }
}

/// How a process ended whose standard output ended; without a status it was killed.
fn ending(status: Option<ExitStatus>, within_line: bool) -> Ending {
    #[cfg(unix)]
    if let Some(signal) = status.and_then(|s| std::os::unix::process::ExitStatusExt::signal(&s)) {
        return Ending::Signaled {
            signal,
            within_line,
        };
    }
    match status.and_then(|status| status.code()) {
        Some(code) => Ending::Exited { code, within_line },
        None => Ending::ClosedOutput { within_line },
    }
}
