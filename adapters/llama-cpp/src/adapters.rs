//! Loading and unloading adapters of a loaded model.

use std::path::Path;

use journeyman::Result;

use crate::{
    loaded::LlamaCpp,
    lora::{AdapterChange, LOAD, UNLOAD, inspect},
};

impl LlamaCpp {
    /// Loads an adapter (LoRA, in GGUF) under a name that requests then say. One of the same name is replaced, and the
    /// weights are loaded anew for that. What is being computed ends first, what waits begins after it, and the prefix
    /// cache is emptied.
    ///
    /// # Errors
    /// - `NotFound`: no such file.
    /// - `Invalid`: the name is empty, or the file is no GGUF or no adapter.
    /// - `Corrupt`: a GGUF that is cut off or damaged.
    /// - `Unsupported`: an adapter of another architecture or shape, of experts, or of numbers that adapters do not have.
    ///   One of a model of the same shape and other weights cannot be told apart.
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

    /// Unloads an adapter and frees its memory: llama.cpp does that with a model only, so the weights are loaded anew,
    /// for a moment beside the old ones. What is being computed ends first; requests that name it fail after that.
    ///
    /// # Errors
    /// `NotFound` where none of this name is loaded; `Corrupt` where the file of the model or of another adapter has
    /// changed; else as [`LlamaCpp::load`]. Then nothing has changed.
    pub async fn unload_adapter(&self, name: impl Into<String>) -> Result<()> {
        let name = name.into();
        self.worker
            .adapter(UNLOAD, AdapterChange::Unload { name })
            .await
    }
}
