//! A server as a child process: its start, the end of its standard error, and its end.

use std::{process::Stdio, time::Duration};

use journeyman::{Error, ErrorKind, Result, text::Redactor};
use journeyman_process::{ProcessConfig, StderrTail};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::config::McpConfig;

/// A running server. Dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    said: StderrTail,
}

/// The pipes of the protocol.
pub(crate) struct Pipes {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
}

/// Starts a server on the runtime's thread: the system binds the child's life to it.
pub(crate) fn start(
    config: &McpConfig,
    process: &ProcessConfig,
    operation: &'static str,
) -> Result<(Server, Pipes)> {
    let command = config.child(process).command();
    let mut command = Command::from(command.map_err(|error| config.at_server(error))?);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| {
        let message = "the server's program does not start";
        config
            .at_server(Error::new(ErrorKind::Unavailable, operation, message))
            .hint("name a program that this system can run")
            .source_from(error)
    })?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(errors)) = pipes else {
        return Err(Error::new(
            ErrorKind::Internal,
            operation,
            "a child without pipes",
        ));
    };
    let said = StderrTail::default();
    tokio::spawn(read(errors, said.clone()));
    Ok((Server { child, said }, Pipes { input, output }))
}

impl Server {
    /// The end of its standard error, redacted.
    pub(crate) fn said(&self, redactor: &Redactor) -> String {
        self.said.text(redactor)
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for its end within the limit, and kills it then.
    pub(crate) async fn end(mut self, limit: Duration) {
        // Its group is killed while the process is not reaped: then its id is no other's.
        let start = tokio::time::Instant::now();
        while !self.has_exited() && start.elapsed() < limit {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.kill();
        let _ = tokio::time::timeout(limit, self.child.wait()).await;
    }

    #[cfg(unix)]
    fn has_exited(&self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        id.and_then(Pid::from_raw)
            .is_none_or(|id| !matches!(waitid(WaitId::Pid(id), options), Ok(None)))
    }

    #[cfg(not(unix))]
    fn has_exited(&self) -> bool {
        false
    }

    /// Kills it and all that it started in its group.
    fn kill(&mut self) {
        #[cfg(unix)]
        {
            let id = self.child.id().and_then(|id| i32::try_from(id).ok());
            if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
            }
        }
        let _ = self.child.start_kill();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads standard error to its end.
async fn read(mut errors: impl AsyncRead + Unpin, said: StderrTail) {
    let mut part = [0; 4096];
    while let Ok(length @ 1..) = errors.read(&mut part).await {
        said.push(&part[..length]);
    }
}
