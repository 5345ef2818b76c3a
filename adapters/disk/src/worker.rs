//! The thread that owns the database: SQLite blocks, and a host's executor must not.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{Receiver, Sender, TryRecvError, channel},
    thread::JoinHandle,
};

use futures::channel::oneshot;
use journeyman::{Error, ErrorKind, Result};

use crate::database::Database;

type Job = Box<dyn FnOnce(&mut Database) + Send>;

/// The thread and the way to it. Dropping it lets the thread finish what was asked of it, and waits.
pub(crate) struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// # Errors
    /// `Unavailable` when the thread could not be started.
    pub(crate) fn start(database: Database) -> Result<Self> {
        let (jobs, asked) = channel();
        let thread = std::thread::Builder::new()
            .name("journeyman-disk".to_owned())
            .spawn(move || work(database, &asked))
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

    /// Lets the thread do something with the database. It is done to its end even when nobody waits for the answer any
    /// more.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        operation: &'static str,
        job: impl FnOnce(&mut Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |database| {
            let outcome = catch_unwind(AssertUnwindSafe(|| job(database))).unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorKind::Panicked,
                    operation,
                    "the library's thread panicked; the change was not acknowledged",
                ))
            });
            // Nobody may be waiting any more.
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

fn work(mut database: Database, jobs: &Receiver<Job>) {
    loop {
        let job = match jobs.try_recv() {
            Ok(job) => Some(job),
            Err(TryRecvError::Disconnected) => return,
            Err(TryRecvError::Empty) => {
                if let Err(error) = database.tidy() {
                    tracing::warn!(%error, "the write-ahead log could not be folded in");
                }
                jobs.recv().ok()
            }
        };
        let Some(job) = job else { return };
        job(&mut database);
    }
}
