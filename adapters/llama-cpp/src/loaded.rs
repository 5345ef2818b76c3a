//! [`LlamaCpp`]: a loaded language model.

use std::{fmt, sync::Arc, thread};

use journeyman::{Error, ModelId, Result, contract::ModelCapabilities};
use llama_cpp_2::model::LlamaModel;

use crate::{
    adapter_digests::AdapterDigests, config::LlamaConfig, constrain, context::Limits,
    convert::worker_failed, cores::Threads, devices, digest::FileHash, fit::Plan, gguf,
    instructions, lora, render::Renderer, setup::Setup, stats::EngineStats, weights::load_model,
    worker::Worker,
};

const LOAD: &str = "LlamaCpp::load";
/// A loaded model with its own worker thread. Several can live in one process; dropping one ends its thread and frees
/// its memory.
pub struct LlamaCpp {
    // Declared before `renderer`, and so dropped before it: the worker's context borrows the model's weights.
    pub(crate) worker: Worker,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) capabilities: ModelCapabilities,
    pub(crate) architecture: String,
    pub(crate) is_tied: bool,
    pub(crate) file: FileHash,
    pub(crate) digests: AdapterDigests,
}

impl fmt::Debug for LlamaCpp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlamaCpp")
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

impl LlamaCpp {
    /// Loads a GGUF file and starts its worker. Blocks while the file is read twice: once for its SHA-256, the first 12
    /// hexadecimal digits of which are part of the [`ModelId`] (`general.name` or the file's stem, `@`, digits). A file
    /// of more than 256 MiB is mapped into memory and must not change while the model lives. For a model in several
    /// files, name the first.
    ///
    /// # Errors
    /// - `NotFound`: no such file.
    /// - `Invalid`: not a GGUF, or a value of the configuration is out of range.
    /// - `Corrupt`: a GGUF that is cut off or damaged.
    /// - `Unsupported`: not a language model, its chat template is missing or cannot be used, or layers are assigned to
    ///   a GPU and there is none; or the processor lacks instructions that llama.cpp was compiled for.
    /// - `Unavailable`: the file cannot be read, memory is too small, or no backend is loaded; and the errors of
    ///   [`load_backends`](crate::load_backends) where the configuration names a folder.
    pub fn load(config: LlamaConfig) -> Result<Arc<Self>> {
        let model = Self::load_known(config, None)?;
        instructions::warn_of_unused();
        Ok(model)
    }

    /// As `load`; the file is not hashed again where it is the one that was `known`.
    pub(crate) fn load_known(config: LlamaConfig, known: Option<&FileHash>) -> Result<Arc<Self>> {
        config.check()?;
        devices::ensure_devices(LOAD, config.backends.as_deref())?;
        let header = gguf::inspect(&config.path, gguf::Purpose::Writing)?;
        let host_chose = config.threads.is_some();
        let config = config.with_threads(header.sizes.weights());
        let (plan, mapped) = Plan::reserved(&config, &header)?;
        // A number that the host names stays, and so does that of a model whose answers repeat to the byte. Where a GPU computes
        // all layers, cores hardly matter.
        let yields = !host_chose && !config.deterministic && plan.gpu_layers < plan.layers;
        let path = config.path.clone();
        let with_path = |error: Error| error.with("path", path.display());
        let context = plan.context;
        if context > header.trained_context && header.has_position_table {
            let positions = header.trained_context;
            let error = Error::invalid(
                LOAD,
                format!("the model has positions for only {positions} tokens"),
            );
            return Err(with_path(
                error
                    .with("n_ctx", context)
                    .hint("lower n_ctx to this number"),
            ));
        }
        for (name, adapter) in &config.adapters {
            lora::inspect(name, adapter, &header.architecture, header.is_tied)?;
        }
        let Parts {
            file,
            renderer,
            weights,
            threads,
        } = Parts::load(&config, &plan, yields, known).map_err(with_path)?;
        let stem = config.path.file_stem().map(|stem| stem.to_string_lossy());
        let name = header.name.or(stem.map(Into::into)).unwrap_or_default();
        let id = ModelId::new(format!("{name}@{}", file.short()));
        warn_if_long(&id, context, header.trained_context);
        let deterministic = config.deterministic;
        let digests = AdapterDigests::default();
        let setup = Setup {
            limits: Limits::new(&config, context, !header.slides, plan.gpu_layers),
            gpu_layers: plan.gpu_layers,
            config,
            renderer: renderer.clone(),
            id: id.clone(),
            file: file.clone(),
            digests: digests.clone(),
            _mapped: mapped,
        };
        let (worker, speed) = Worker::start(setup, weights, threads).map_err(with_path)?;

        let mut capabilities = ModelCapabilities::new(id, context as usize);
        capabilities.score = true;
        capabilities.token_records = true;
        capabilities.json_schema = constrain::AVAILABLE;
        capabilities.tools = renderer.call_form().is_some();
        capabilities.deterministic = deterministic;
        capabilities.speed = speed;
        Ok(Arc::new(Self {
            worker,
            renderer,
            capabilities,
            architecture: header.architecture,
            is_tied: header.is_tied,
            file,
            digests,
        }))
    }

    /// Counters of the engine since it was loaded, and its present state.
    pub fn stats(&self) -> EngineStats {
        self.worker.stats()
    }
}

/// What is read from the file.
struct Parts {
    file: FileHash,
    renderer: Arc<Renderer>,
    weights: LlamaModel,
    /// Counts, since before the others were read, who computes.
    threads: Threads,
}

impl Parts {
    /// Reads them, and hashes the file meanwhile.
    fn load(
        config: &LlamaConfig,
        plan: &Plan,
        yields: bool,
        known: Option<&FileHash>,
    ) -> Result<Self> {
        let threads = Threads::new(config.threads.unwrap_or(1), yields);
        thread::scope(|scope| {
            let file = thread::Builder::new()
                .spawn_scoped(scope, || FileHash::of(LOAD, &config.path, known))
                .map_err(|error| {
                    worker_failed(LOAD, "the system starts no thread").source_from(error)
                })?;
            // The vocabulary is loaded separately: texts are tokenized on the caller's thread, and the worker changes its own
            // model's adapters. It comes first, for a template that cannot be used is found by it.
            let vocabulary = load_model(config, None)?;
            let renderer = Renderer::new(vocabulary, config, plan.context as usize)?;
            let weights = load_model(config, Some(plan.gpu_layers))?;
            let file = file
                .join()
                .unwrap_or_else(|_| Err(worker_failed(LOAD, "hashing the file panicked")))?;
            Ok(Self {
                file,
                renderer: Arc::new(renderer),
                weights,
                threads,
            })
        })
    }
}

fn warn_if_long(model: &ModelId, context: u32, trained: u32) {
    if context > trained {
        let model = model.as_str();
        tracing::warn!(
            model,
            context,
            trained,
            "n_ctx is above the trained context"
        );
    }
}
