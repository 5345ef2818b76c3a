//! [`FastEmbedder`]: an [`Embedder`] on fastembed.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use fastembed::{InitOptionsUserDefined, TextEmbedding};
use futures::channel::oneshot;
use journeyman::{
    Error, ErrorKind, Result,
    contract::{Embedder, Embedding, EmbeddingSpace},
};

use crate::{
    config::FastEmbedderConfig,
    convert::{EMBED, LOAD, no_worker, not_computed, not_loaded, unit},
    files::Files,
    runtime,
};

/// A loaded model with its own thread, which computes one call after the other. Each text is computed alone, so that an
/// embedding does not depend on other texts.
///
/// The embedding space is named after the folder, the digest of its files and the pooling: vectors that were kept of another
/// model or pooling are refused by [`VectorRetriever::with_vectors`](journeyman::agent::VectorRetriever::with_vectors).
pub struct FastEmbedder {
    space: EmbeddingSpace,
    time_limit: Duration,
    max_waiting: usize,
    waiting: Arc<AtomicUsize>,
    /// `None` only during the drop.
    calls: Option<Sender<Call>>,
    thread: Option<JoinHandle<()>>,
}

struct Call {
    texts: Vec<String>,
    deadline: Instant,
    answer: oneshot::Sender<Result<Vec<Embedding>>>,
    _place: Place,
}

/// A place among the calls that wait.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl FastEmbedder {
    /// Loads ONNX Runtime and the model's files, and starts the worker.
    ///
    /// # Errors
    /// For ONNX Runtime: `NotFound` where none is named or the file is not there, `Unsupported` for one that is too old,
    /// `Invalid` for another library, or another one than the process has loaded, `Unavailable` where it cannot be loaded;
    /// each says which file to fetch. For the model: `NotFound` or `Unavailable` for a file that cannot be read, `Corrupt`
    /// for one that cannot be used, `Model` where the model cannot embed a first text.
    pub fn load(config: FastEmbedderConfig) -> Result<Arc<Self>> {
        let environment = runtime::environment(config.runtime.as_deref())?;
        let Files { model, digest } = Files::read(&config.folder, config.pooling)?;
        let options = InitOptionsUserDefined::new()
            .with_environment(environment)
            .with_max_length(config.max_tokens.get())
            .with_intra_threads(config.threads.get());
        let with_folder = |error: Error| error.with("folder", config.folder.display());
        let mut model = contained(LOAD, || {
            TextEmbedding::try_new_from_user_defined(model, options).map_err(not_loaded)
        })
        .map_err(with_folder)?;
        let first = contained(LOAD, || embed(&mut model, "the first text")).map_err(with_folder)?;

        let (calls, queue) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("fastembed".to_owned())
            .spawn(move || run(model, &queue))
            .map_err(|error| no_worker(LOAD).source_from(error))?;
        let folder = config.folder.file_name().map(|name| name.to_string_lossy());
        let (folder, pooling) = (folder.unwrap_or_default(), config.pooling.name());
        Ok(Arc::new(Self {
            space: EmbeddingSpace::new(
                format!("{folder}@{digest}/{pooling}"),
                first.components().len(),
            ),
            time_limit: config.time_limit,
            max_waiting: config.max_waiting.get(),
            waiting: Arc::default(),
            calls: Some(calls),
            thread: Some(thread),
        }))
    }

    fn place(&self) -> Result<Place> {
        let before = self.waiting.fetch_add(1, Ordering::SeqCst);
        let place = Place(Arc::clone(&self.waiting));
        if before < self.max_waiting {
            return Ok(place);
        }
        let error = Error::new(ErrorKind::RateLimited, EMBED, "too many calls wait");
        Err(error
            .temporary()
            .with("max_waiting", self.max_waiting)
            .hint("ask again later, or raise FastEmbedderConfig::max_waiting"))
    }
}

#[async_trait]
impl Embedder for FastEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, awaited) = oneshot::channel();
        let now = Instant::now();
        let call = Call {
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            deadline: now.checked_add(self.time_limit).unwrap_or(now),
            answer,
            _place: self.place()?,
        };
        let calls = self.calls.as_ref().ok_or_else(|| no_worker(EMBED))?;
        calls.send(call).map_err(|_| no_worker(EMBED))?;
        awaited.await.unwrap_or_else(|_| Err(no_worker(EMBED)))
    }
}

impl Drop for FastEmbedder {
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for FastEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FastEmbedder")
            .field("space", &self.space)
            .finish_non_exhaustive()
    }
}

/// The worker's thread.
fn run(mut model: TextEmbedding, queue: &Receiver<Call>) {
    while let Ok(call) = queue.recv() {
        let mut done = Vec::with_capacity(call.texts.len());
        let embedded = call.texts.iter().try_for_each(|text| {
            if call.answer.is_canceled() || Instant::now() >= call.deadline {
                return Err(Error::new(
                    ErrorKind::Timeout,
                    EMBED,
                    "the call's time limit has passed",
                )
                .temporary()
                .hint("send fewer texts in a call, or raise FastEmbedderConfig::time_limit"));
            }
            done.push(contained(EMBED, || embed(&mut model, text))?);
            Ok(())
        });
        let _ = call.answer.send(embedded.map(|()| done));
    }
}

fn embed(model: &mut TextEmbedding, text: &str) -> Result<Embedding> {
    let vectors = model.embed([text], Some(1)).map_err(not_computed)?;
    unit(vectors.first().map_or(&[][..], Vec::as_slice))
}

/// A panic of the libraries below is an error of the call.
fn contained<T>(operation: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        let message = "fastembed or ONNX Runtime panicked";
        Err(Error::new(ErrorKind::Unavailable, operation, message)
            .hint("check the model's files; load the embedder again"))
    })
}
