//! The thread that owns the database: SQLite calls block, and a host's async executor must not.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use futures::channel::oneshot;
use journeyman::{Error, ErrorKind, Result};

use crate::{database::Database, folders::Folders, scores::Scores};

/// How long the thread is idle before it does its deferred work.
const QUIET: Duration = Duration::from_millis(50);
/// Maximum delay of deferred work under load.
const BUSY: Duration = Duration::from_secs(1);

/// The state that the thread owns.
#[derive(Debug)]
pub(crate) struct WorkerState {
    pub(crate) database: Database,
    /// The skill folders; `None` where the library was opened without them.
    pub(crate) folders: Option<Folders>,
    pub(crate) scores: Scores,
}

impl WorkerState {
    /// Deferred work: updating the folders and checkpointing the log.
    fn tidy(&mut self) {
        self.catch_up();
        if let Err(error) = self.database.tidy() {
            tracing::warn!(%error, "the write-ahead log could not be checkpointed");
        }
    }

    /// Work before the thread ends; the next opening does the rest.
    fn finish(&mut self) {
        if self.database.connection.total_changes() > 0 {
            self.tidy();
        }
    }

    fn catch_up(&mut self) {
        if let Some(folders) = &mut self.folders
            && let Err(error) = folders.catch_up(&mut self.database)
        {
            tracing::warn!(%error, "the skill folders could not be updated");
        }
    }
}

type Job = Box<dyn FnOnce(&mut WorkerState) + Send>;

/// The handle of the thread. Dropping it waits until all requests are done.
pub(crate) struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// # Errors
    /// `Unavailable` when the thread could not be started.
    pub(crate) fn start(state: WorkerState) -> Result<Self> {
        let (jobs, asked) = channel();
        let thread = std::thread::Builder::new()
            .name("journeyman-disk".to_owned())
            .spawn(move || work(state, &asked))
            .map_err(|source| {
                Error::new(
                    ErrorKind::Unavailable,
                    "DiskStore::open",
                    "the library's thread could not be started",
                )
                .source_from(source)
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Runs a job on the thread. The job runs to its end even when its caller is dropped.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        operation: &'static str,
        job: impl FnOnce(&mut WorkerState) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |state| {
            let outcome = catch_unwind(AssertUnwindSafe(|| job(state))).unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorKind::Panicked,
                    operation,
                    "the library's thread panicked; the change was not acknowledged",
                ))
            });
            // The caller may have been dropped.
            let _ = answer.send(outcome);
        });
        let gone = || {
            Error::new(
                ErrorKind::Unavailable,
                operation,
                "the library's thread has ended",
            )
            .hint("open the library again")
        };
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

fn work(mut state: WorkerState, jobs: &Receiver<Job>) {
    let mut tidied = Instant::now();
    loop {
        let job = match jobs.recv_timeout(QUIET) {
            Ok(job) => Some(job),
            Err(RecvTimeoutError::Timeout) => {
                state.tidy();
                tidied = Instant::now();
                jobs.recv().ok()
            }
            Err(RecvTimeoutError::Disconnected) => None,
        };
        let Some(job) = job else {
            state.finish();
            return;
        };
        job(&mut state);
        if tidied.elapsed() > BUSY {
            state.tidy();
            tidied = Instant::now();
        }
    }
}
