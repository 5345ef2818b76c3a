//! The asynchronous runtime of requests: a thread of its own, so that a host needs no runtime.

use std::{future::Future, thread};

use journeyman::{Error, ErrorKind, Result};
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    task::JoinHandle,
};

/// A thread with a runtime, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    /// Dropping it ends the thread. The thread drops the runtime itself, since within a host's runtime that would panic.
    _running: oneshot::Sender<()>,
}

/// Aborts its task when it is dropped.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Runtime {
    pub(crate) async fn start(operation: &'static str) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::new(
                ErrorKind::Unavailable,
                operation,
                "the thread for requests could not be started",
            )
            .temporary()
            .hint("free threads and file descriptors of this process")
            .source_from(error)
        };
        let (started, starting) = oneshot::channel();
        let (running, stop) = oneshot::channel::<()>();
        let on_thread = move || {
            let runtime = match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            if started.send(Ok(runtime.handle().clone())).is_ok() {
                // It is never sent: the sender is dropped.
                let _ = runtime.block_on(stop);
            }
            // Looking up a name may block a thread; that one is not waited for.
            runtime.shutdown_background();
        };
        thread::Builder::new()
            .name("journeyman-openai".to_owned())
            .spawn(on_thread)
            .map_err(failed)?;
        let handle = starting
            .await
            .unwrap_or_else(|_| Err(std::io::Error::other("the thread ended")))
            .map_err(failed)?;
        Ok(Self {
            handle,
            _running: running,
        })
    }

    /// Runs a future on the thread; dropping the returned one aborts it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let mut task = Task(self.handle.spawn(future));
        match (&mut task.0).await {
            Ok(answer) => answer,
            Err(error) if error.is_panic() => Err(Error::new(
                ErrorKind::Panicked,
                operation,
                "a request panicked, perhaps in the sink of its text",
            )
            .hint("look at the panic's message on standard error")),
            Err(_) => Err(Error::new(
                ErrorKind::Unavailable,
                operation,
                "the thread for requests has ended",
            )
            .hint("connect again")),
        }
    }
}
