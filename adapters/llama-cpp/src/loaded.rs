//! One loaded model.

use std::{fmt, sync::Arc};

use journeyman::{Error, ModelId, Result, contract::ModelCapabilities};

use crate::{
    config::LlamaConfig, constrain, context::Limits, devices, digest::Hashed, fit::Plan, gguf,
    lora, render::Renderer, setup::Setup, stats::EngineStats, weights::load_model, worker::Worker,
};

const LOAD: &str = "LlamaCpp::load";
/// A loaded model with the thread that runs it. Several can live in one process; dropping one ends its thread and
/// frees its memory.
pub struct LlamaCpp {
    // Before `renderer`: the worker's context goes before the model that it borrows its weights from.
    pub(crate) worker: Worker,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) capabilities: ModelCapabilities,
    pub(crate) architecture: String,
    pub(crate) is_tied: bool,
    pub(crate) file: Hashed,
}

impl fmt::Debug for LlamaCpp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlamaCpp")
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

impl LlamaCpp {
    /// Loads a GGUF file and starts its worker. Blocks while the file is read, twice: once for its sha256, the first
    /// 12 hexadecimal digits of which are part of the [`ModelId`] (`general.name` or the file's stem, `@`, digits).
    /// A file of more than 256 MiB is mapped into memory, and must not change while the model lives. Of a model in
    /// several files, name the first.
    ///
    /// # Errors
    /// - `NotFound`: no such file.
    /// - `Invalid`: not a GGUF, or a value of the configuration is out of range.
    /// - `Corrupt`: a GGUF that is cut off or damaged.
    /// - `Unsupported`: not a language model, its chat template is missing or cannot be used, or layers are wanted on a
    ///   GPU and there is none.
    /// - `Unavailable`: the file cannot be read, there is too little memory, or no backend is loaded; and as
    ///   [`load_backends`](crate::load_backends) where the configuration names a folder.
    pub fn load(config: LlamaConfig) -> Result<Arc<Self>> {
        Self::load_known(config, None)
    }

    /// The same; the file is not read for its sha256 where it is the one that was `known`.
    pub(crate) fn load_known(config: LlamaConfig, known: Option<&Hashed>) -> Result<Arc<Self>> {
        config.check()?;
        devices::provide(LOAD, config.backends.as_deref())?;
        let header = gguf::inspect(&config.path, gguf::Purpose::Writing)?;
        let plan = Plan::of(&config, &header)?;
        let path = config.path.clone();
        let with_path = |error: Error| error.with("path", path.display());
        let file = Hashed::of(LOAD, &config.path, known).map_err(with_path)?;
        let stem = config.path.file_stem().map(|stem| stem.to_string_lossy());
        let name = header.name.or(stem.map(Into::into)).unwrap_or_default();
        let id = ModelId::new(format!("{name}@{}", file.short()));

        let context = plan.context;
        if context > header.trained_context && header.has_position_table {
            let positions = header.trained_context;
            let error = Error::invalid(
                LOAD,
                format!("the model has positions for {positions} tokens only"),
            );
            return Err(with_path(
                error.with("n_ctx", context).hint("lower n_ctx to that"),
            ));
        }
        if context > header.trained_context {
            tracing::warn!(
                model = id.as_str(),
                context,
                trained = header.trained_context,
                "n_ctx is beyond what the model was trained for"
            );
        }
        for (name, adapter) in &config.adapters {
            lora::inspect(name, adapter, &header.architecture, header.is_tied)?;
        }
        // The vocabulary apart: texts are tokenised where they come in, and the worker changes its model's adapters.
        let vocabulary = load_model(&config, None).map_err(with_path)?;
        let renderer = Renderer::new(vocabulary, &config.template, context as usize)
            .map(Arc::new)
            .map_err(with_path)?;
        let deterministic = config.deterministic;
        let setup = Setup {
            limits: Limits::new(&config, context, !header.slides),
            gpu_layers: plan.gpu_layers,
            config,
            renderer: renderer.clone(),
            id: id.clone(),
            file: file.clone(),
        };
        let worker = Worker::start(setup).map_err(with_path)?;

        let mut capabilities = ModelCapabilities::new(id, context as usize);
        capabilities.score = true;
        capabilities.token_records = true;
        capabilities.json_schema = constrain::AVAILABLE;
        capabilities.deterministic = deterministic;
        Ok(Arc::new(Self {
            worker,
            renderer,
            capabilities,
            architecture: header.architecture,
            is_tied: header.is_tied,
            file,
        }))
    }

    /// What the engine has done since it was loaded, and what it is doing.
    pub fn stats(&self) -> EngineStats {
        self.worker.stats()
    }

    /// Checks that each of the texts is one control token of this vocabulary: a dialect's markers, which a model
    /// must have been trained with and which data must not be able to spell.
    ///
    /// # Errors
    /// `Unsupported`, with the texts that are not.
    pub fn require_tokens(&self, texts: &[&str]) -> Result<()> {
        let missing: Vec<&str> = texts
            .iter()
            .copied()
            .filter(|text| !self.renderer.is_control_token(text))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join(" ");
        Err(Error::unsupported(
            "LlamaCpp::require_tokens",
            format!("the model's vocabulary lacks control tokens that the dialect needs: {missing}"),
        )
        .with("model", &self.capabilities.model)
        .hint("use a model trained for this dialect, such as the bundled apprentice.gguf, or a dialect for chat models"))
    }
}
