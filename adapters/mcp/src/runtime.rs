//! A thread with a tokio runtime: MCP's library needs one, and a host need not have one.

use std::{future::Future, io, sync::Arc, thread};

use futures::future::{AbortHandle, Abortable};
use journeyman::{Error, ErrorKind, Result};
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// A shared thread with a runtime. The thread ends with the last copy, and a child process that it started ends with it.
#[derive(Clone, Debug)]
pub(crate) struct Runtime(Arc<Thread>);

#[derive(Debug)]
struct Thread {
    handle: Handle,
    /// Never sent: dropping it ends the thread.
    alive: oneshot::Sender<()>,
    /// Ends with the thread, after everything that ran on it was dropped.
    ended: oneshot::Receiver<()>,
}

/// Stops a future that nobody waits for any more.
struct Stop(AbortHandle);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Runtime {
    pub(crate) async fn start(operation: &'static str) -> Result<Self> {
        let failed = |error: io::Error| {
            Error::new(
                ErrorKind::Unavailable,
                operation,
                "no thread for MCP could be started",
            )
            .temporary()
            .hint("free threads and file descriptors of this process")
            .source_from(error)
        };
        let (alive, end) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let (running, ended) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name("journeyman-mcp".to_owned());
        let work = move || {
            let built = Builder::new_current_thread().enable_all().build();
            let (runtime, handle) = match built {
                Ok(runtime) => {
                    let handle = runtime.handle().clone();
                    (Some(runtime), Ok(handle))
                }
                Err(error) => (None, Err(error)),
            };
            let heard = tell.send(handle).is_ok();
            if let Some(runtime) = runtime {
                if heard {
                    let _ = runtime.block_on(end);
                }
                runtime.shutdown_background();
            }
            drop(running);
        };
        thread.spawn(work).map_err(failed)?;
        let handle = told.await.map_err(io::Error::other).and_then(|told| told);
        Ok(Self(Arc::new(Thread {
            handle: handle.map_err(failed)?,
            alive,
            ended,
        })))
    }

    /// Ends the thread, and waits until everything that ran on it was dropped. Another copy keeps the thread.
    pub(crate) async fn end(self) {
        if let Some(Thread { alive, ended, .. }) = Arc::into_inner(self.0) {
            drop(alive);
            let _ = ended.await;
        }
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.0.handle
    }

    /// Runs a future on the thread. Dropping the returned future stops it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (abort, registration) = AbortHandle::new_pair();
        let _stop = Stop(abort);
        let task = self.handle().spawn(Abortable::new(future, registration));
        match task.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(Error::new(
                ErrorKind::Unavailable,
                operation,
                "the work on MCP's thread did not come to its end",
            )
            .temporary()
            .hint("if standard error has a panic, please report it")),
        }
    }
}
