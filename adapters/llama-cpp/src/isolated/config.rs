//! The configuration of a worker process.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use journeyman::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::protocol::{Load, NAME};
use crate::config::LlamaConfig;

/// The configuration of a model in a process of its own. Create it with [`IsolatedConfig::new`], then set its fields.
/// Defaults are in parentheses.
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
    /// The model that the worker process loads: a [`LlamaConfig`], or an [`EmbedderConfig`](crate::EmbedderConfig).
    pub model: M,
    /// The worker's executable. `None`: `journeyman-llama-worker` beside the running executable.
    pub worker: Option<PathBuf>,
    /// Arguments of the executable (none), for a host whose own executable calls [`run_worker`](crate::run_worker) on
    /// request.
    pub worker_arguments: Vec<String>,
    /// The worker's whole environment, besides `GGML_NO_BACKTRACE` (empty). Variables that a GPU's driver needs go
    /// here, and `LD_LIBRARY_PATH` where the worker finds llama.cpp's libraries by it (`dynamic-backends`).
    pub environment: Vec<(String, String)>,
    /// Time limit of loading (2 minutes).
    pub load_limit: Duration,
    /// Time after a request's time limit, or after its future was dropped, at which a worker that has not answered is
    /// killed (5 s). A live worker answers at the limit.
    pub grace: Duration,
    /// Maximum restarts in a row without an answered request (3). The first is immediate, the next ones follow growing
    /// pauses. After that requests are refused with the reason.
    pub restarts: u32,
    /// How long requests are then refused, before the next one starts a worker once more (30 s).
    pub rest: Duration,
    /// Time limit of counting tokens (500 ms), which blocks the caller; after it the count is estimated. Embedders
    /// count none.
    pub count_limit: Duration,
}

impl<M> IsolatedConfig<M> {
    /// The defaults for a model.
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

    /// The absolute path of the worker's executable, which stays valid when the host changes its current folder.
    pub(super) fn program(&self, operation: &'static str) -> Result<PathBuf> {
        let unknown = |error| {
            Error::new(
                ErrorKind::Unavailable,
                operation,
                "the path of this executable is unknown",
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
            "the worker's executable does not exist",
        );
        Err(error.with("worker", path.display()).hint(format!(
            "put `{NAME}` beside your executable (`cargo build -p journeyman-llama-cpp` builds it), or name its \
                path in `worker`"
        )))
    }

    /// The same configuration with the model as a `Load`.
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
    /// The configuration of a restarted worker: without adapters whose files are gone, so that only requests that name
    /// them fail.
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

    /// Records a change of adapters for later workers; `None` for an unloaded one.
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
