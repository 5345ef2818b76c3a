//! Adapters of a model in a process of its own, and what its engine counts.

use std::{
    path::{self, Path},
    time::Duration,
};

use journeyman::{Error, Result};

use super::{IsolatedLlama, protocol::Ask, unexpected};
use crate::{
    isolated::protocol::Answer,
    lora::{LOAD, UNLOAD},
    stats::EngineStats,
};

const STATS: &str = "IsolatedLlama::stats";
/// Longest time that a change of adapters may take; unloading one loads the weights anew.
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
        // The worker's folder is the one that the host was in when it loaded the model.
        let path = path::absolute(path.as_ref()).map_err(|error| {
            Error::invalid(LOAD, "the path is empty")
                .hint("name the adapter's .gguf file")
                .source_from(error)
        })?;
        let ask = Ask::LoadAdapter { name, path };
        self.ask(LOAD, CHANGE_LIMIT, ask, None).await.map(drop)
    }

    /// As [`LlamaCpp::unload_adapter`](crate::LlamaCpp::unload_adapter). While there is no worker it is
    /// forgotten: the way out where the file was damaged and no worker can start with it.
    ///
    /// # Errors
    /// As there, and `Unavailable` where the worker dies of it.
    pub async fn unload_adapter(&self, name: impl Into<String>) -> Result<()> {
        let name = name.into();
        let ask = Ask::UnloadAdapter { name };
        self.ask(UNLOAD, CHANGE_LIMIT, ask, None).await.map(drop)
    }

    /// What the engine of the present worker has done since it was started, and what it is doing.
    ///
    /// # Errors
    /// `Unavailable` or `Timeout` where the worker does not answer.
    pub async fn stats(&self) -> Result<EngineStats> {
        match self.ask(STATS, STATS_LIMIT, Ask::Stats, None).await? {
            Answer::Stats(stats) => Ok(stats),
            _ => Err(unexpected(STATS)),
        }
    }
}
