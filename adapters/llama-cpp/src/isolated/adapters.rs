//! Adapters and prefixes of a model in a process of its own, and what its engine counts.

use std::{
    path::{self, Path, PathBuf},
    time::Duration,
};

use journeyman::{Error, Result};

use super::{IsolatedLlama, protocol::Ask, unexpected};
use crate::{
    isolated::protocol::Answer,
    lora::{LOAD, UNLOAD},
    prefixes::FORGET,
    saved::{RESTORE, SAVE},
    stats::EngineStats,
};

const STATS: &str = "IsolatedLlama::stats";
const FOLDER: &str = "name the folder of the prefixes";
/// Longest time that a change of adapters or prefixes may take; unloading an adapter loads the weights anew.
const CHANGE_LIMIT: Duration = Duration::from_secs(600);
const STATS_LIMIT: Duration = Duration::from_secs(10);

impl IsolatedLlama {
    /// As [`LlamaCpp::load_adapter`](crate::LlamaCpp::load_adapter). A worker that is started anew loads it again,
    /// also where the future was dropped meanwhile; without it where the file is gone.
    ///
    /// # Errors
    /// As there, and `Unavailable` where the worker dies of it.
    pub async fn load_adapter(
        &self,
        name: impl Into<String>,
        path: impl AsRef<Path>,
    ) -> Result<()> {
        let name = name.into();
        let path = absolute(LOAD, path.as_ref(), "name the adapter's .gguf file")?;
        let ask = Ask::LoadAdapter { name, path };
        self.client
            .ask(LOAD, CHANGE_LIMIT, ask, None)
            .await
            .map(drop)
    }

    /// As [`LlamaCpp::unload_adapter`](crate::LlamaCpp::unload_adapter). While there is no worker it is
    /// forgotten: the way out where the file was damaged and no worker can start with it.
    ///
    /// # Errors
    /// As there, and `Unavailable` where the worker dies of it.
    pub async fn unload_adapter(&self, name: impl Into<String>) -> Result<()> {
        let name = name.into();
        let ask = Ask::UnloadAdapter { name };
        self.client
            .ask(UNLOAD, CHANGE_LIMIT, ask, None)
            .await
            .map(drop)
    }

    /// As [`LlamaCpp::save_prefixes`](crate::LlamaCpp::save_prefixes). A worker that is started anew begins without
    /// prefixes: what was saved can be restored to it.
    ///
    /// # Errors
    /// As there, and `Unavailable` where the worker dies of it.
    pub async fn save_prefixes(&self, folder: impl AsRef<Path>) -> Result<usize> {
        let folder = absolute(SAVE, folder.as_ref(), FOLDER)?;
        self.prefixes(SAVE, Ask::SavePrefixes { folder }).await
    }

    /// As [`LlamaCpp::restore_prefixes`](crate::LlamaCpp::restore_prefixes).
    ///
    /// # Errors
    /// As there, and `Unavailable` where the worker dies of it.
    pub async fn restore_prefixes(&self, folder: impl AsRef<Path>) -> Result<usize> {
        let folder = absolute(RESTORE, folder.as_ref(), FOLDER)?;
        self.prefixes(RESTORE, Ask::RestorePrefixes { folder })
            .await
    }

    /// As [`LlamaCpp::forget_prefixes`](crate::LlamaCpp::forget_prefixes).
    ///
    /// # Errors
    /// As there, and `Unavailable` where the worker dies of it.
    pub async fn forget_prefixes(&self) -> Result<usize> {
        self.prefixes(FORGET, Ask::ForgetPrefixes).await
    }

    async fn prefixes(&self, operation: &'static str, ask: Ask) -> Result<usize> {
        match self.client.ask(operation, CHANGE_LIMIT, ask, None).await? {
            Answer::Tokens(tokens) => Ok(tokens),
            _ => Err(unexpected(operation)),
        }
    }

    /// What the engine of the present worker has done since it was started, and what it is doing.
    ///
    /// # Errors
    /// `Unavailable` or `Timeout` where the worker does not answer.
    pub async fn stats(&self) -> Result<EngineStats> {
        match self
            .client
            .ask(STATS, STATS_LIMIT, Ask::Stats, None)
            .await?
        {
            Answer::Stats(stats) => Ok(stats),
            _ => Err(unexpected(STATS)),
        }
    }
}

/// The worker's folder is the one that the host was in when it loaded the model.
fn absolute(operation: &'static str, path: &Path, hint: &'static str) -> Result<PathBuf> {
    path::absolute(path).map_err(|error| {
        Error::invalid(operation, "the path is empty")
            .hint(hint)
            .source_from(error)
    })
}
