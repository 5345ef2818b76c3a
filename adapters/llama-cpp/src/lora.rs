//! Adapters (LoRA): loaded beside the weights, named in a request, unloaded (ARISE Eq. 6: the trained policy comes
//! back as one).

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::model::{LlamaLoraAdapter, LlamaModel};

use crate::{
    convert::no_adapter,
    gguf::{Reader, Value, read_header},
    loaded::{LlamaCpp, file_digest, load_model},
    worker::{Adapter, Setup},
};

pub(crate) const LOAD: &str = "LlamaCpp::load_adapter";
pub(crate) const UNLOAD: &str = "LlamaCpp::unload_adapter";

impl LlamaCpp {
    /// Loads an adapter (LoRA, in GGUF) under a name that requests then say. One of the same name is replaced. Requests
    /// that are being computed begin anew, and the prefix cache is emptied.
    ///
    /// # Errors
    /// - `NotFound`: no such file.
    /// - `Invalid`: the name is empty, or the file is no GGUF or no adapter.
    /// - `Corrupt`: a GGUF that is cut off or damaged.
    /// - `Unsupported`: an adapter of another model.
    pub async fn load_adapter(
        &self,
        name: impl Into<String>,
        path: impl AsRef<Path>,
    ) -> Result<()> {
        let (name, path) = (name.into(), path.as_ref());
        inspect(&name, path, &self.architecture)?;
        let path = path.to_owned();
        self.worker
            .adapter(LOAD, Adapter::Load { name, path })
            .await
    }

    /// Unloads an adapter and frees its memory: llama.cpp does that with a model only, so the weights are loaded anew.
    /// Requests that are being computed begin anew; those that name it fail.
    ///
    /// # Errors
    /// `NotFound` where none of this name is loaded; else as [`LlamaCpp::load`], and then nothing has changed.
    pub async fn unload_adapter(&self, name: impl Into<String>) -> Result<()> {
        let name = name.into();
        self.worker.adapter(UNLOAD, Adapter::Unload { name }).await
    }
}

/// Checks the name of an adapter, and its header for a model of the architecture.
pub(crate) fn inspect(name: &str, path: &Path, architecture: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::invalid(LOAD, "the adapter's name is empty")
            .hint("give it a name; requests choose it by that"));
    }
    let with_path = |error: Error| error.with("path", path.display());
    let mut reader = Reader::open(path).map_err(with_path)?;
    let (values, _) = read_header(&mut reader).map_err(with_path)?;
    let text = |key: &str| match values.get(key) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    if text("general.type") != "adapter" || text("adapter.type") != "lora" {
        let error = Error::invalid(LOAD, "the file is a GGUF, but no adapter (LoRA)")
            .hint("convert the adapter with llama.cpp's convert_lora_to_gguf.py");
        return Err(with_path(error));
    }
    let of = text("general.architecture");
    if of != architecture {
        let error = Error::unsupported(
            LOAD,
            format!("the adapter is for the architecture `{of}`, the model is `{architecture}`"),
        )
        .hint("load it with the model that it was trained on");
        return Err(with_path(error));
    }
    Ok(())
}

/// The adapters of a model, by name, each with the file that it came from.
#[derive(Default)]
pub(crate) struct Adapters(BTreeMap<String, (PathBuf, LlamaLoraAdapter)>);

impl Adapters {
    pub(crate) fn load(model: &mut LlamaModel, files: &BTreeMap<String, PathBuf>) -> Result<Self> {
        let mut adapters = Self::default();
        for (name, path) in files {
            adapters.add(model, name.clone(), path.clone())?;
        }
        Ok(adapters)
    }

    fn add(&mut self, model: &mut LlamaModel, name: String, path: PathBuf) -> Result<()> {
        let adapter = model.lora_adapter_init(&path).map_err(|error| {
            Error::new(
                ErrorKind::Unsupported,
                LOAD,
                "llama.cpp refuses the adapter: its tensors do not fit this model's",
            )
            .with("path", path.display())
            .hint("an adapter belongs to the model it was trained on: load it with that one, or train it anew")
            .source_from(error)
        })?;
        self.0.insert(name, (path, adapter));
        Ok(())
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub(crate) fn get(&mut self, name: &str) -> Option<&mut LlamaLoraAdapter> {
        self.0.get_mut(name).map(|(_, adapter)| adapter)
    }

    /// Changes them; where that fails, nothing has changed.
    pub(crate) fn change(
        &mut self,
        setup: &Setup,
        model: &mut LlamaModel,
        change: Adapter,
    ) -> Result<()> {
        match change {
            Adapter::Load { name, path } => self.add(model, name, path),
            Adapter::Unload { name } => {
                if !self.0.contains_key(&name) {
                    return Err(no_adapter(UNLOAD, &name, &self.names()));
                }
                let digest = file_digest(UNLOAD, &setup.config.path)?;
                if !setup.id.as_str().ends_with(&digest[..12]) {
                    return Err(Error::new(
                        ErrorKind::Corrupt,
                        UNLOAD,
                        "the model's file is not the one that was loaded any more",
                    )
                    .hint("put the file back, or load the model anew from the new one"));
                }
                // llama.cpp frees an adapter with its model only.
                let mut fresh = load_model(&setup.config, Some(setup.gpu_layers))?;
                let others = self.0.iter().filter(|(other, _)| **other != name);
                let others = others.map(|(other, (path, _))| (other.clone(), path.clone()));
                *self = Self::load(&mut fresh, &others.collect())?;
                *model = fresh;
                Ok(())
            }
        }
    }
}
