//! [`LlamaCpp`]'s calls that load and unload adapters.

use std::path::Path;

use journeyman::Result;

use crate::{
    loaded::LlamaCpp,
    lora::{AdapterChange, LOAD, UNLOAD, inspect},
};

impl LlamaCpp {
    /// Loads an adapter (LoRA, in GGUF) under a name that requests then use. An adapter of the same name is replaced,
    /// for which the weights are loaded again. Running requests finish first, waiting ones begin after it, and the
    /// prefix cache is emptied.
    ///
    /// # Errors
    /// - `NotFound`: no such file.
    /// - `Invalid`: the name is empty, or the file is not a GGUF or not an adapter.
    /// - `Corrupt`: a GGUF that is cut off or damaged.
    /// - `Unsupported`: an adapter of another architecture or shape, for experts, or of a number type that adapters do
    ///   not have. An adapter for other weights of the same shape is not detected.
    pub async fn load_adapter(
        &self,
        name: impl Into<String>,
        path: impl AsRef<Path>,
    ) -> Result<()> {
        let (name, path) = (name.into(), path.as_ref());
        inspect(&name, path, &self.architecture, self.is_tied)?;
        let path = path.to_owned();
        self.worker
            .adapter(LOAD, AdapterChange::Load { name, path })
            .await
    }

    /// Unloads an adapter and frees its memory. llama.cpp frees adapters only with their model, so the weights are
    /// loaded again, for a moment beside the old ones. Running requests finish first; later requests that name the
    /// adapter fail.
    ///
    /// # Errors
    /// `NotFound` where no adapter has this name; `Corrupt` where the file of the model or of another adapter has
    /// changed; otherwise as [`LlamaCpp::load`]. On an error nothing has changed.
    pub async fn unload_adapter(&self, name: impl Into<String>) -> Result<()> {
        let name = name.into();
        self.worker
            .adapter(UNLOAD, AdapterChange::Unload { name })
            .await
    }
}
