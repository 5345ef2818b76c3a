//! What a host sets.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use journeyman::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::protocol::{Load, NAME};
use crate::config::LlamaConfig;

/// How a model is kept in a process of its own. Made with [`IsolatedConfig::new`], then by its fields.
///
/// ```
/// use journeyman_llama_cpp::{IsolatedConfig, LlamaConfig};
///
/// let mut config = IsolatedConfig::new(LlamaConfig::new("models/apprentice.gguf"));
/// config.worker = Some("/opt/shop/journeyman-llama-worker".into());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsolatedConfig<M = LlamaConfig> {
    /// How the worker process loads the model: a [`LlamaConfig`], or an [`EmbedderConfig`](crate::EmbedderConfig).
    pub model: M,
    /// The worker's executable. `None`: `journeyman-llama-worker` beside the executable that runs.
    pub worker: Option<PathBuf>,
    /// What the executable is called with (nothing): for a host whose own executable calls
    /// [`run_worker`](crate::run_worker) when it is asked to.
    pub worker_arguments: Vec<String>,
    /// The worker's whole environment beside `GGML_NO_BACKTRACE` (nothing); where a GPU's driver needs some, it goes
    /// here, and so does `LD_LIBRARY_PATH` where the worker finds llama.cpp's libraries by that (`dynamic-backends`).
    pub environment: Vec<(String, String)>,
    /// How long loading may take (2 minutes).
    pub load_limit: Duration,
    /// A worker that has not answered a request so long after its time limit, or after its future was dropped, is
    /// killed (5 s). A worker that is alive answers at the limit.
    pub grace: Duration,
    /// How often in a row a worker is started anew, with no request answered between (3), the first time at once and
    /// then with growing pauses. After that requests are refused with the reason.
    pub restarts: u32,
    /// How long they are then refused before the next request starts a worker once more (30 s).
    pub rest: Duration,
    /// How long counting tokens may take before it is estimated (500 ms): it blocks its caller. An embedder counts none.
    pub count_limit: Duration,
}

impl<M> IsolatedConfig<M> {
    /// The defaults, for a model.
    pub fn new(model: M) -> Self {
        Self {
            model,
            worker: None,
            worker_arguments: Vec::new(),
            environment: Vec::new(),
            load_limit: Duration::from_secs(120),
            grace: Duration::from_secs(5),
            restarts: 3,
            rest: Duration::from_secs(30),
            count_limit: Duration::from_millis(500),
        }
    }

    /// The worker's executable, as a path that stays true wherever the host goes.
    pub(super) fn program(&self, operation: &'static str) -> Result<PathBuf> {
        let unknown = |error| {
            Error::new(
                ErrorKind::Unavailable,
                operation,
                "the place of this executable is not known",
            )
            .hint("name the worker's executable in `worker`")
            .source_from(error)
        };
        let path = match &self.worker {
            Some(path) => std::path::absolute(path).map_err(unknown)?,
            None => {
                let file = format!("{NAME}{}", env::consts::EXE_SUFFIX);
                env::current_exe().map_err(unknown)?.with_file_name(file)
            }
        };
        if path.is_file() {
            return Ok(path);
        }
        let error = Error::new(
            ErrorKind::NotFound,
            operation,
            "the worker's executable is not there",
        );
        Err(error.with("worker", path.display()).hint(format!(
            "put `{NAME}` beside your executable (`cargo build -p journeyman-llama-cpp` builds it), or name its path in `worker`"
        )))
    }

    /// The same for one kind of model or the other.
    pub(super) fn for_load(self, load: impl FnOnce(M) -> Load) -> IsolatedConfig<Load> {
        IsolatedConfig {
            model: load(self.model),
            worker: self.worker,
            worker_arguments: self.worker_arguments,
            environment: self.environment,
            load_limit: self.load_limit,
            grace: self.grace,
            restarts: self.restarts,
            rest: self.rest,
            count_limit: self.count_limit,
        }
    }
}

impl IsolatedConfig<Load> {
    /// For a further worker: without adapters whose files are gone, so that only requests that name them fail.
    pub(super) fn without_lost_adapters(&self, folder: &Path) -> Self {
        let mut config = self.clone();
        let Some(adapters) = config.model.adapters() else {
            return config;
        };
        adapters.retain(|adapter, path| {
            let lost = matches!(folder.join(&*path).try_exists(), Ok(false));
            if lost {
                tracing::warn!(
                    adapter,
                    "a worker starts without an adapter: its file is gone"
                );
            }
            !lost
        });
        config
    }

    /// Lets a new worker load what the present one has.
    pub(super) fn remember(&mut self, adapter: String, path: Option<PathBuf>) {
        let Some(adapters) = self.model.adapters() else {
            return;
        };
        match path {
            Some(path) => adapters.insert(adapter, path),
            None => adapters.remove(&adapter),
        };
    }
}
