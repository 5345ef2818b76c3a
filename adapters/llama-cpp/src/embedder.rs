//! [`LlamaEmbedder`]: an [`Embedder`] on llama.cpp.

mod config;

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::AtomicUsize,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use journeyman::{
    Error, ErrorKind, Result,
    contract::{Embedder, Embedding, EmbeddingSpace},
};
use llama_cpp_2::{
    context::{
        LlamaContext,
        params::{LlamaContextParams, LlamaPoolingType},
    },
    llama_batch::LlamaBatch,
    model::LlamaModel,
    token::LlamaToken,
};

pub use self::config::{EmbedderConfig, Pooling};
use self::config::{LOAD, pooling, pooling_name};
use crate::{
    backend::backend,
    config::LlamaConfig,
    convert::{decode_error, not_finite, too_many_wait, worker_failed},
    devices,
    digest::FileHash,
    fit::Plan,
    gguf,
    queue::{Answer, Ticket, answer},
    tokens::Splitting,
    weights::load_model,
};

pub(crate) const EMBED: &str = "LlamaEmbedder::embed";

/// A loaded embedding model with its own thread: an encoder such as BERT, or a language model trained for embeddings.
/// Each text is computed alone, so an embedding does not depend on other texts. Concurrent calls take turns text by
/// text.
pub struct LlamaEmbedder {
    space: EmbeddingSpace,
    time_limit: Duration,
    most_waiting: usize,
    places: Arc<AtomicUsize>,
    /// `None` only during the drop.
    calls: Option<Sender<Call>>,
    thread: Option<JoinHandle<()>>,
    pub(crate) file: FileHash,
}

/// The texts of a call, and the embeddings so far.
struct Call {
    texts: VecDeque<String>,
    done: Vec<Embedding>,
    answer: Answer<Vec<Embedding>>,
    _ticket: Ticket,
}

impl fmt::Debug for LlamaEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlamaEmbedder")
            .field("space", &self.space)
            .finish_non_exhaustive()
    }
}

impl LlamaEmbedder {
    /// Loads a GGUF file and starts its worker thread. The embedding space is named after the model and its pooling.
    ///
    /// # Errors
    /// As [`LlamaCpp::load`](crate::LlamaCpp::load). Also `Unsupported` where neither the file nor the configuration
    /// says how to pool, or the model is a reranker.
    pub fn load(config: EmbedderConfig) -> Result<Arc<Self>> {
        Self::load_known(config, None)
    }

    /// As `load`; the file is not hashed again where it is the one that was `known`.
    pub(crate) fn load_known(
        config: EmbedderConfig,
        known: Option<&FileHash>,
    ) -> Result<Arc<Self>> {
        let with_path = |error: Error| error.with("path", config.path.display());
        devices::ensure_devices(LOAD, config.backends.as_deref())?;
        let header = gguf::inspect(&config.path, gguf::Purpose::Embedding)?;
        let context = config
            .n_ctx
            .unwrap_or(2048)
            .min(header.trained_context)
            .min(1 << 16);
        let model = config.model(context).with_threads(header.sizes.weights());
        model.check()?;
        let (plan, mapped) = Plan::reserved(&model, &header)?;
        let pooling = pooling(config.pooling, header.pooling).map_err(with_path)?;
        let file = FileHash::of(LOAD, &config.path, known).map_err(with_path)?;
        let stem = config.path.file_stem().map(|stem| stem.to_string_lossy());
        let name = header.name.or(stem.map(Into::into)).unwrap_or_default();

        let (calls, queue) = mpsc::channel();
        let (ready, standing) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("llama-cpp-embed".to_owned())
            .spawn(move || {
                // Held as long as the weights.
                let _mapped = mapped;
                run(&model, plan.gpu_layers, pooling, &queue, &ready);
            })
            .map_err(|error| {
                worker_failed(LOAD, "the system starts no thread").source_from(error)
            })?;
        let dimensions = standing
            .recv()
            .unwrap_or_else(|_| Err(worker_failed(LOAD, "the worker did not start")))
            .map_err(with_path)?;
        Ok(Arc::new(Self {
            space: EmbeddingSpace::new(
                format!("{name}@{}/{}", file.short(), pooling_name(pooling)),
                dimensions,
            ),
            time_limit: config.time_limit,
            most_waiting: config.max_waiting as usize,
            places: Arc::default(),
            calls: Some(calls),
            thread: Some(thread),
            file,
        }))
    }
}

#[async_trait]
impl Embedder for LlamaEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, awaited) = answer(EMBED, Instant::now(), self.time_limit);
        let ticket = Ticket::take(&self.places, self.most_waiting)
            .ok_or_else(|| too_many_wait(EMBED, self.most_waiting))?;
        let call = Call {
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            done: Vec::with_capacity(texts.len()),
            answer,
            _ticket: ticket,
        };
        let gone = || worker_failed(EMBED, "the model's worker has ended");
        let calls = self.calls.as_ref().ok_or_else(gone)?;
        calls.send(call).map_err(|_| gone())?;
        awaited.wait().await
    }
}

impl Drop for LlamaEmbedder {
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The worker's thread.
fn run(
    config: &LlamaConfig,
    gpu_layers: u32,
    pooling: Pooling,
    queue: &Receiver<Call>,
    ready: &Sender<Result<usize>>,
) {
    let size = config.n_ctx.unwrap_or(512);
    let model = match load_model(config, Some(gpu_layers)) {
        Ok(model) => model,
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let mut context = match make_context(&model, config, size, pooling) {
        Ok(context) => context,
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let _ = ready.send(Ok(model.n_embd_out().max(0) as usize));
    let splitting = Splitting::of(&model);
    let mut batch = LlamaBatch::new(size as usize, 1);
    let mut calls = VecDeque::new();
    loop {
        if calls.is_empty() {
            match queue.recv() {
                Ok(call) => calls.push_back(call),
                Err(_) => return,
            }
        }
        calls.extend(queue.try_iter());
        let Some(mut call) = calls.pop_front() else {
            continue;
        };
        let Some(text) = call.texts.pop_front() else {
            call.answer.send(Ok(call.done));
            continue;
        };
        let embedded = call.answer.wanted(Instant::now()).and_then(|()| {
            let embedded = AssertUnwindSafe(|| {
                let tokens = tokens(&model, &splitting, size as usize, &text);
                embed(&mut context, &mut batch, &tokens)
            });
            catch_unwind(embedded)
                .unwrap_or_else(|_| Err(worker_failed(EMBED, "the worker panicked")))
        });
        match embedded {
            Ok(embedding) => {
                call.done.push(embedding);
                if call.texts.is_empty() {
                    call.answer.send(Ok(call.done));
                } else {
                    calls.push_back(call);
                }
            }
            Err(error) => call.answer.send(Err(error)),
        }
    }
}

fn make_context<'m>(
    model: &'m LlamaModel,
    config: &LlamaConfig,
    size: u32,
    pooling: Pooling,
) -> Result<LlamaContext<'m>> {
    let params = LlamaContextParams::default()
        .with_n_ctx(std::num::NonZeroU32::new(size))
        // An encoder reads a text in one batch.
        .with_n_batch(size)
        .with_n_ubatch(size)
        .with_n_seq_max(1)
        .with_n_threads(config.threads.unwrap_or(1) as i32)
        .with_n_threads_batch(config.threads.unwrap_or(1) as i32)
        .with_embeddings(true)
        .with_pooling_type(match pooling {
            Pooling::Mean => LlamaPoolingType::Mean,
            Pooling::Cls => LlamaPoolingType::Cls,
            Pooling::Last => LlamaPoolingType::Last,
        })
        .with_no_perf(true);
    model.new_context(backend()?, params).map_err(|error| {
        Error::new(
            ErrorKind::Unavailable,
            LOAD,
            format!("llama.cpp cannot make a context of {size} tokens"),
        )
        .hint("there may be too little memory: lower n_ctx or gpu_layers")
        .source_from(error)
    })
}

/// The tokens of a text, with the special tokens that the model wants around it; at least one, and no more than fit.
fn tokens(model: &LlamaModel, splitting: &Splitting, most: usize, text: &str) -> Vec<LlamaToken> {
    let vocab = model.vocab();
    let mut tokens = splitting.enclosed(model, text);
    if let Some(&last) = tokens.last()
        && tokens.len() > most
    {
        tokens.truncate(most);
        if vocab.is_control(last) {
            tokens[most - 1] = last;
        }
    }
    if tokens.is_empty() {
        // An empty text, in a vocabulary without special tokens around a text.
        let known = (0..vocab.n_tokens()).contains(&vocab.eos().0);
        tokens.push(if known { vocab.eos() } else { LlamaToken(0) });
    }
    tokens
}

/// The vector of one text, of unit length.
fn embed(
    context: &mut LlamaContext<'_>,
    batch: &mut LlamaBatch<'static>,
    text: &[LlamaToken],
) -> Result<Embedding> {
    let internal = |message: String| Error::new(ErrorKind::Internal, EMBED, message);
    context.clear_kv_cache();
    batch.clear();
    for (at, &token) in text.iter().enumerate() {
        batch
            .add(token, at as i32, &[0], true)
            .map_err(|error| internal(error.to_string()))?;
    }
    context
        .decode(batch)
        .map_err(|error| decode_error(EMBED, error))?;
    let vector = context
        .embeddings_seq_ith(0)
        .map_err(|error| internal(error.to_string()))?;
    let squares: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if !(squares.is_finite() && squares > 0.0) {
        return Err(not_finite(EMBED));
    }
    let length = squares.sqrt();
    let unit = vector.iter().map(|&x| (f64::from(x) / length) as f32);
    Embedding::new(unit.collect())
}
