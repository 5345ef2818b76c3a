//! [`IsolatedLlama`]'s calls for adapters, prefixes and counters.

use std::{
    path::{self, Path, PathBuf},
    time::Duration,
};

use journeyman::{Error, Result};

use super::{IsolatedLlama, protocol::Ask, unexpected};
use crate::{
    digest::file_digest,
    isolated::protocol::Answer,
    lora::{LOAD, UNLOAD},
    prefixes::FORGET,
    saved::{RESTORE, SAVE},
    stats::EngineStats,
};

const STATS: &str = "IsolatedLlama::stats";
const FOLDER: &str = "name the folder of the prefixes";
/// Time limit of a change of adapters or prefixes; unloading an adapter loads the weights again.
const CHANGE_LIMIT: Duration = Duration::from_secs(600);
const STATS_LIMIT: Duration = Duration::from_secs(10);

impl IsolatedLlama {
    /// As [`LlamaCpp::load_adapter`](crate::LlamaCpp::load_adapter). A restarted worker loads the adapter again, also
    /// where the future was dropped meanwhile; if its file is gone, the worker starts without it.
    ///
    /// # Errors
    /// The same errors, and `Unavailable` where the worker dies during the call.
    pub async fn load_adapter(
        &self,
        name: impl Into<String>,
        path: impl AsRef<Path>,
    ) -> Result<()> {
        let name = name.into();
        let path = absolute(LOAD, path.as_ref(), "name the adapter's .gguf file")?;
        // Before the worker has it: whoever asks in the meantime keeps no score under the old one's identity.
        let digest = file_digest(LOAD, &path).ok();
        let before = self.digests.put(&name, digest);
        let ask = Ask::LoadAdapter {
            name: name.clone(),
            path,
        };
        let loaded = self.client.ask(LOAD, CHANGE_LIMIT, ask, None).await;
        if loaded.is_err() {
            self.digests.put(&name, before);
        }
        loaded.map(drop)
    }

    /// As [`LlamaCpp::unload_adapter`](crate::LlamaCpp::unload_adapter). While no worker runs, the adapter is only
    /// removed from the list for the next worker; this helps where a damaged adapter file keeps workers from starting.
    ///
    /// # Errors
    /// The same errors, and `Unavailable` where the worker dies during the call.
    pub async fn unload_adapter(&self, name: impl Into<String>) -> Result<()> {
        let name = name.into();
        let ask = Ask::UnloadAdapter { name };
        self.client
            .ask(UNLOAD, CHANGE_LIMIT, ask, None)
            .await
            .map(drop)
    }

    /// As [`LlamaCpp::save_prefixes`](crate::LlamaCpp::save_prefixes). A restarted worker has no prefixes; saved ones
    /// can be restored to it.
    ///
    /// # Errors
    /// The same errors, and `Unavailable` where the worker dies during the call.
    pub async fn save_prefixes(&self, folder: impl AsRef<Path>) -> Result<usize> {
        let folder = absolute(SAVE, folder.as_ref(), FOLDER)?;
        self.prefixes(SAVE, Ask::SavePrefixes { folder }).await
    }

    /// As [`LlamaCpp::restore_prefixes`](crate::LlamaCpp::restore_prefixes).
    ///
    /// # Errors
    /// The same errors, and `Unavailable` where the worker dies during the call.
    pub async fn restore_prefixes(&self, folder: impl AsRef<Path>) -> Result<usize> {
        let folder = absolute(RESTORE, folder.as_ref(), FOLDER)?;
        self.prefixes(RESTORE, Ask::RestorePrefixes { folder })
            .await
    }

    /// As [`LlamaCpp::forget_prefixes`](crate::LlamaCpp::forget_prefixes).
    ///
    /// # Errors
    /// The same errors, and `Unavailable` where the worker dies during the call.
    pub async fn forget_prefixes(&self) -> Result<usize> {
        self.prefixes(FORGET, Ask::ForgetPrefixes).await
    }

    async fn prefixes(&self, operation: &'static str, ask: Ask) -> Result<usize> {
        match self.client.ask(operation, CHANGE_LIMIT, ask, None).await? {
            Answer::Tokens(tokens) => Ok(tokens),
            _ => Err(unexpected(operation)),
        }
    }

    /// Counters of the present worker's engine since its start, and its present state.
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

/// Makes a path absolute: the worker's current folder is the one that the host had when it loaded the model.
fn absolute(operation: &'static str, path: &Path, hint: &'static str) -> Result<PathBuf> {
    path::absolute(path).map_err(|error| {
        Error::invalid(operation, "the path is empty")
            .hint(hint)
            .source_from(error)
    })
}
